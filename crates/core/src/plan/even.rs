//! Segments of an axis whose chunks have one size, by arithmetic.

/// The elements `start`, `start + step` ... of an axis with chunks of one size; `count` is not 0.
#[derive(Clone, Copy, Debug)]
pub(super) struct Even {
    pub(super) size: u64,
    pub(super) start: u64,
    pub(super) step: i64,
    pub(super) count: u64,
}

impl Even {
    /// Whether no two elements lie in one chunk.
    fn is_sparse(&self) -> bool {
        self.step.unsigned_abs() >= self.size
    }

    pub(super) fn index(&self, n: u64) -> u64 {
        let way = n * self.step.unsigned_abs();
        if self.step > 0 {
            self.start + way
        } else {
            self.start - way
        }
    }

    pub(super) fn len(&self) -> usize {
        let n = if self.is_sparse() {
            self.count
        } else {
            (self.index(self.count - 1) / self.size).abs_diff(self.start / self.size) + 1
        };
        usize::try_from(n).unwrap_or(usize::MAX)
    }

    pub(super) fn chunk(&self, segment: usize) -> u64 {
        let segment = segment as u64;
        if self.is_sparse() {
            self.index(segment) / self.size
        } else if self.step > 0 {
            self.start / self.size + segment
        } else {
            self.start / self.size - segment
        }
    }

    /// How many elements lie before `segment`.
    pub(super) fn bound(&self, segment: usize) -> u64 {
        let n = segment as u64;
        if n == 0 || self.is_sparse() {
            return n;
        }
        // Of the chunks before this one the last element is the one next to this one's border.
        let first = self.start / self.size;
        let before = if self.step > 0 {
            (first + n)
                .saturating_mul(self.size)
                .saturating_sub(self.start)
        } else if let Some(chunk) = first.checked_sub(n) {
            self.start - ((chunk + 1) * self.size - 1)
        } else {
            return self.count;
        };
        before.div_ceil(self.step.unsigned_abs()).min(self.count)
    }
}
