//! The rule that chooses.

/// How much longer than the fastest an engine that tells more may take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Leeway {
    /// A pass shorter than this is worth its time.
    pub short_ms: f64,
    /// And one at most so many times as long.
    pub times: f64,
}

impl Leeway {
    pub const MEASURE: Self = Self { short_ms: 5.0, times: 2.0 };

    /// Somebody waits: none beyond what nobody sees.
    pub const ASK: Self = Self { short_ms: INSTANT_MS, times: 1.0 };
}

/// Between passes shorter than this nobody sees a difference: of engines that tell the same, the first is taken.
pub const INSTANT_MS: f64 = 1.0;

/// What an engine that can take a job offers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Offer {
    /// To take the points in.
    pub setup_ms: f64,
    /// Milliseconds of one pass over the queries.
    pub search_ms: f64,
    /// Of the whole job.
    pub total_ms: f64,
    /// How much it tells beside neighbours and times: nothing, counters, counters and a profile that was asked for.
    pub tells: u8,
}

impl Offer {
    /// Whether it may be taken in place of the fastest. Passes are compared, and not only the whole: where points are yet to be
    /// taken in, that is mostly the same for all, and the passes after it are what one waits for again and again.
    pub fn is_close_to(&self, fastest: &Self, leeway: Leeway) -> bool {
        let close = |ms: f64, to: f64| ms < leeway.short_ms || ms <= leeway.times * to;
        close(self.search_ms, fastest.search_ms) && close(self.setup_ms, fastest.total_ms)
    }
}

/// Which of the offers is taken: of those close to the fastest, those that tell most, and of these the fastest.
pub fn best(offers: &[Offer], leeway: Leeway) -> Option<usize> {
    let fastest = offers.iter().min_by(|a, b| a.total_ms.total_cmp(&b.total_ms))?;
    let most = offers.iter().filter(|offer| offer.is_close_to(fastest, leeway)).map(|offer| offer.tells).max()?;
    if most == fastest.tells && most == 0 {
        return offers.iter().position(|offer| offer == fastest);
    }
    let key = |offer: &Offer| if offer.search_ms < INSTANT_MS { 0.0 } else { offer.total_ms };
    let taken = offers.iter().enumerate().filter(|(_, offer)| offer.tells == most && offer.is_close_to(fastest, leeway));
    taken.min_by(|(_, a), (_, b)| key(a).total_cmp(&key(b))).map(|(at, _)| at)
}
