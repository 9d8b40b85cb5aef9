# SPDX-License-Identifier: Apache-2.0
"""The recorded reference measurements of a GPU: stages, their checks, and what is kept of them."""
