# SPDX-License-Identifier: Apache-2.0
"""The program scaleworth; `python -m scaleworth` runs it."""
