//! Values as they were worked out last: one request at a time goes on, then what is wanted by then.

use std::sync::Arc;

use crate::app::features::color::request::{Failure, Outcome, Request};
use crate::app::features::color::state::channel::Channel;
use crate::app::jobs::task;

/// Why there are no values after the user cancelled the work.
pub const CANCELLED: &str = "cancelled";

/// What came out, and of what.
#[derive(Clone, Debug)]
struct Done {
    request: Request,
    /// The values, or why there are none.
    channel: Result<Arc<Channel>, Failure>,
}

#[derive(Default)]
pub struct Coloring {
    done: Option<Done>,
    /// Whether what is done has changed.
    news: bool,
}

impl Coloring {
    /// Takes in what came out.
    pub fn take(&mut self, request: Request, outcome: task::Outcome<Outcome>) {
        let channel = match outcome {
            Ok(Ok(channel)) => Ok(Arc::new(channel)),
            Ok(Err(Some(why))) => Err(why),
            Ok(Err(None)) => Err(Failure::Said(CANCELLED.to_owned())),
            Err(stopped) => Err(Failure::Said(format!("cannot colour: {stopped}"))),
        };
        (self.done, self.news) = (Some(Done { request, channel }), true);
    }

    /// Lets go of values that mean something else than what is wanted now; true when there is news since the last time. What
    /// only moved on is shown until the next is there, so that somebody who drags sees colours follow.
    pub fn settle(&mut self, wanted: Option<&Request>) -> bool {
        if self.done.as_ref().is_some_and(|done| wanted.is_none_or(|wanted| !wanted.continues(&done.request))) {
            (self.done, self.news) = (None, true);
        }
        std::mem::take(&mut self.news)
    }

    /// Whether just this was worked out.
    pub fn has(&self, wanted: &Request) -> bool {
        self.done.as_ref().is_some_and(|done| done.request == *wanted)
    }

    /// The newest values, or why there are none; `None` while they are worked out.
    pub fn channel(&self) -> Option<Result<Arc<Channel>, Failure>> {
        self.done.as_ref().map(|done| done.channel.clone())
    }
}
