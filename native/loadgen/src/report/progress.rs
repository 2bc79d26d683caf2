//! A line on stderr for each tenth of the requests, as ApacheBench has it.

/// How far the run has come, by tenths.
pub struct Progress {
    step: u64,
    shown: u64,
}

impl Progress {
    /// requests: in all; none to show nothing.
    pub fn of(requests: Option<u64>) -> Self {
        Self {
            step: requests.map_or(0, |all| (all / 10).max(1)),
            shown: 0,
        }
    }

    /// Show the tenths that have been reached since.
    pub fn show(&mut self, answered: u64) {
        for line in self.lines(answered) {
            eprintln!("{line}");
        }
    }

    fn lines(&mut self, answered: u64) -> Vec<String> {
        let mut lines = Vec::new();
        while self.step > 0 && self.shown + self.step <= answered {
            self.shown += self.step;
            lines.push(format!("Completed {} requests", self.shown));
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::Progress;

    #[test]
    fn each_tenth_is_shown_once() {
        let mut progress = Progress::of(Some(1000));
        assert_eq!(progress.lines(99), Vec::<String>::new());
        assert_eq!(
            progress.lines(250),
            ["Completed 100 requests", "Completed 200 requests"]
        );
        assert_eq!(progress.lines(1000).len(), 8);
        assert_eq!(Progress::of(None).lines(1000).len(), 0);
    }
}
