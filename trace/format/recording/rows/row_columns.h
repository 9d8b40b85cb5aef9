// SPDX-License-Identifier: Apache-2.0
/// The columns of each kind of row, in the order of the file. New ones go to the end, and none is
/// ever removed.
#pragma once

#include "trace/format/recording/bytes/columns.h"
#include "trace/format/recording/rows/rows.h"

namespace scaleworth::trace::recording {

template <auto Member>
using Plain = Column<Member, Coding::plain>;
template <auto Member>
using Delta = Column<Member, Coding::difference>;

using KernelColumns = ColumnList<Delta<&KernelRow::start_ns>,
                                 Plain<&KernelRow::duration_ns>,
                                 Delta<&KernelRow::correlation>,
                                 Plain<&KernelRow::name>,
                                 Plain<&KernelRow::stream>,
                                 Plain<&KernelRow::device>,
                                 Plain<&KernelRow::context>,
                                 Plain<&KernelRow::shape>,
                                 Delta<&KernelRow::graph_node>,
                                 Plain<&KernelRow::graph>>;
using ShapeColumns = ColumnList<Plain<&ShapeRow::grid_x>,
                                Plain<&ShapeRow::grid_y>,
                                Plain<&ShapeRow::grid_z>,
                                Plain<&ShapeRow::block_x>,
                                Plain<&ShapeRow::block_y>,
                                Plain<&ShapeRow::block_z>,
                                Plain<&ShapeRow::registers>,
                                Plain<&ShapeRow::shared_memory>>;
using CopyColumns = ColumnList<Delta<&CopyRow::start_ns>,
                               Plain<&CopyRow::duration_ns>,
                               Delta<&CopyRow::correlation>,
                               Plain<&CopyRow::bytes>,
                               Plain<&CopyRow::direction>,
                               Plain<&CopyRow::stream>,
                               Plain<&CopyRow::device>,
                               Plain<&CopyRow::context>,
                               Delta<&CopyRow::graph_node>>;
using FillColumns = ColumnList<Delta<&FillRow::start_ns>,
                               Plain<&FillRow::duration_ns>,
                               Delta<&FillRow::correlation>,
                               Plain<&FillRow::bytes>,
                               Plain<&FillRow::stream>,
                               Plain<&FillRow::device>,
                               Plain<&FillRow::context>,
                               Delta<&FillRow::graph_node>>;
using CallColumns = ColumnList<Delta<&CallRow::start_ns>,
                               Plain<&CallRow::duration_ns>,
                               Delta<&CallRow::correlation>,
                               Plain<&CallRow::name>,
                               Delta<&CallRow::thread>,
                               Plain<&CallRow::layer>,
                               Plain<&CallRow::result>>;
using WaitColumns = ColumnList<Delta<&WaitRow::start_ns>,
                               Plain<&WaitRow::duration_ns>,
                               Delta<&WaitRow::correlation>,
                               Plain<&WaitRow::kind>,
                               Delta<&WaitRow::stream>,
                               Plain<&WaitRow::context>,
                               Delta<&WaitRow::event_use>>;
using EventColumns = ColumnList<Delta<&EventRow::event_use>,
                                Delta<&EventRow::correlation>,
                                Plain<&EventRow::stream>,
                                Plain<&EventRow::device>,
                                Plain<&EventRow::context>>;
using OverheadColumns = ColumnList<Delta<&OverheadRow::start_ns>,
                                   Plain<&OverheadRow::duration_ns>,
                                   Plain<&OverheadRow::name>,
                                   Delta<&OverheadRow::thread>>;
using MarkColumns = ColumnList<Delta<&MarkRow::time_ns>,
                               Delta<&MarkRow::id>,
                               Plain<&MarkRow::phase>,
                               Plain<&MarkRow::name>,
                               Plain<&MarkRow::domain>,
                               Delta<&MarkRow::thread>>;
using CollectiveColumns = ColumnList<Delta<&CollectiveRow::time_ns>,
                                     Delta<&CollectiveRow::communicator>,
                                     Plain<&CollectiveRow::fields>,
                                     Plain<&CollectiveRow::function>,
                                     Plain<&CollectiveRow::bytes>,
                                     Plain<&CollectiveRow::sequence>,
                                     Plain<&CollectiveRow::algorithm>,
                                     Plain<&CollectiveRow::protocol>,
                                     Plain<&CollectiveRow::channels>,
                                     Plain<&CollectiveRow::root>,
                                     Plain<&CollectiveRow::peer>,
                                     Plain<&CollectiveRow::rank>,
                                     Plain<&CollectiveRow::ranks>,
                                     Plain<&CollectiveRow::device>,
                                     Delta<&CollectiveRow::thread>,
                                     Delta<&CollectiveRow::range>,
                                     Plain<&CollectiveRow::source>,
                                     Delta<&CollectiveRow::call>>;
using NetworkColumns = ColumnList<Delta<&NetworkRow::time_ns>,
                                  Plain<&NetworkRow::duration_ns>,
                                  Delta<&NetworkRow::communicator>,
                                  Delta<&NetworkRow::call>,
                                  Plain<&NetworkRow::rank>,
                                  Plain<&NetworkRow::channel>,
                                  Plain<&NetworkRow::peer>,
                                  Plain<&NetworkRow::sends>,
                                  Plain<&NetworkRow::steps>,
                                  Plain<&NetworkRow::bytes>,
                                  Plain<&NetworkRow::gpu_wait_ns>,
                                  Plain<&NetworkRow::peer_wait_ns>,
                                  Plain<&NetworkRow::network_wait_ns>,
                                  Plain<&NetworkRow::flush_wait_ns>,
                                  Plain<&NetworkRow::lead_ns>>;
using ChannelColumns = ColumnList<Delta<&ChannelRow::gpu_start_ns>,
                                  Plain<&ChannelRow::gpu_duration_ns>,
                                  Delta<&ChannelRow::time_ns>,
                                  Delta<&ChannelRow::communicator>,
                                  Delta<&ChannelRow::call>,
                                  Plain<&ChannelRow::rank>,
                                  Plain<&ChannelRow::channel>>;
using ClockColumns = ColumnList<Delta<&ClockRow::realtime_ns>,
                                Delta<&ClockRow::monotonic_raw_ns>,
                                Plain<&ClockRow::uncertainty_ns>>;
using WindowColumns =
    ColumnList<Delta<&WindowRow::time_ns>, Plain<&WindowRow::on>, Plain<&WindowRow::why>>;

}  // namespace scaleworth::trace::recording
