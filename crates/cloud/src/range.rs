//! Parts of objects, as requests and answers spell them.

use blazarr_core::io::ByteRange;
use object_store::GetRange;

/// What to ask for; `None` is all of it.
pub fn asked(range: ByteRange) -> Option<GetRange> {
    match range {
        ByteRange::Whole => None,
        ByteRange::Span { offset, len } => Some(match offset.checked_add(len) {
            None | Some(u64::MAX) => GetRange::Offset(offset),
            Some(end) => GetRange::Bounded(offset..end),
        }),
        ByteRange::Suffix(len) => Some(GetRange::Suffix(len)),
    }
}

/// Up to where the header `Range: ...` points, where it says so.
pub fn end(header: &str) -> Option<u64> {
    let (first, last) = header.trim().strip_prefix("bytes=")?.split_once('-')?;
    match first {
        "" => None,
        _ => last.parse::<u64>().ok()?.checked_add(1),
    }
}

/// Where the header `Range: ...` points in `size` bytes, as start and end; `None` where it is another kind of header
/// or lies behind the end.
pub fn resolved(header: &str, size: u64) -> Option<(u64, u64)> {
    let (first, last) = header.trim().strip_prefix("bytes=")?.split_once('-')?;
    let (start, end) = match (first, last) {
        ("", count) => (size.saturating_sub(count.parse().ok()?), size),
        (first, "") => (first.parse().ok()?, size),
        (first, last) => {
            let end: u64 = last.parse().ok()?;
            (first.parse().ok()?, end.saturating_add(1).min(size))
        }
    };
    (start < end).then_some((start, end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_resolved() {
        for (header, size, expected) in [
            ("bytes=0-9", 100, Some((0, 10))),
            ("bytes=90-199", 100, Some((90, 100))),
            ("bytes=7-", 100, Some((7, 100))),
            ("bytes=-3", 100, Some((97, 100))),
            ("bytes=-300", 100, Some((0, 100))),
            ("bytes=100-", 100, None),
            ("bytes=5-4", 100, None),
            ("bytes=0-18446744073709551615", 3, Some((0, 3))),
            ("items=0-1", 3, None),
            ("bytes=x-1", 3, None),
            ("bytes=0-0", 0, None),
        ] {
            assert_eq!(resolved(header, size), expected, "{header}");
        }
    }

    #[test]
    fn ends_are_those_that_headers_say() {
        for (header, expected) in [
            ("bytes=0-9", Some(10)),
            ("bytes=90-199", Some(200)),
            ("bytes=7-", None),
            ("bytes=-3", None),
            ("bytes=0-18446744073709551615", None),
            ("items=0-1", None),
        ] {
            assert_eq!(end(header), expected, "{header}");
        }
    }

    #[test]
    fn ends_beyond_all_numbers_are_no_ends() {
        let range = ByteRange::Span {
            offset: 5,
            len: u64::MAX,
        };
        assert_eq!(asked(range), Some(GetRange::Offset(5)));
    }
}
