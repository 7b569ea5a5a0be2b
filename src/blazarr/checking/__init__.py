"""Checking a hierarchy: metadata, chunks, and what does not belong there."""

from blazarr.checking.findings import ArrayReport, Finding, Report
from blazarr.checking.functions import check

__all__ = ["ArrayReport", "Finding", "Report", "check"]
