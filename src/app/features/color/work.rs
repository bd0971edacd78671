//! Values are worked out on a thread: one at a time, then what is wanted by then.

use std::sync::Arc;

use crate::app::features::color::request::Request;
use crate::app::jobs::task::Task;
use crate::app::model::color::channel::Channel;

/// Why there are no values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The file has no such column: it was chosen for another one.
    NoColumn,
    /// Anything else, as a sentence.
    Said(String),
}

/// Why there are no values where somebody stopped the work.
pub const CANCELLED: &str = "cancelled";

type Outcome = Result<Channel, Option<Failure>>;

/// What came out, and of what.
#[derive(Clone, Debug)]
struct Done {
    request: Request,
    /// Or why not.
    channel: Result<Arc<Channel>, Failure>,
}

/// See the module.
#[derive(Default)]
pub struct Coloring {
    busy: Option<(Request, Task<Outcome>)>,
    done: Option<Done>,
}

impl Coloring {
    /// Takes in what came out and starts what is wanted now; true when there is news. Where nothing is wanted any more,
    /// or something else, what goes on is cancelled; what only moved on is finished and shown first, so that somebody who
    /// drags sees colours follow.
    pub fn poll(&mut self, wanted: Option<&Request>, wake: impl Fn() + Send + Sync + 'static) -> bool {
        let mut news = false;
        if let Some((request, task)) = &self.busy {
            let stale = wanted.is_none_or(|wanted| !wanted.continues(request));
            let finished = task.try_finish();
            let channel = match finished {
                Some(Ok(Ok(channel))) => Some(Ok(Arc::new(channel))),
                Some(Ok(Err(Some(why)))) => Some(Err(why)),
                Some(Ok(Err(None))) => Some(Err(Failure::Said(CANCELLED.to_owned()))),
                Some(Err(())) => Some(Err(Failure::Said("the values could not be worked out: their thread stopped".to_owned()))),
                None => None,
            };
            if stale {
                self.busy = None;
            } else if let Some(channel) = channel {
                self.done = Some(Done { request: request.clone(), channel });
                self.busy = None;
                news = true;
            }
        }
        if self.done.as_ref().is_some_and(|done| wanted.is_none_or(|wanted| !wanted.continues(&done.request))) {
            self.done = None;
            news = true;
        }
        if let Some(wanted) = wanted
            && self.busy.is_none()
            && self.done.as_ref().is_none_or(|done| done.request != *wanted)
        {
            let request = wanted.clone();
            match Task::start("color", wake, move |progress| request.work(progress)) {
                Ok(task) => self.busy = Some((wanted.clone(), task)),
                Err(why) => {
                    let channel = Err(Failure::Said(format!("cannot colour: {why}")));
                    self.done = Some(Done { request: wanted.clone(), channel });
                    news = true;
                }
            }
        }
        news
    }

    /// The newest values, or why there are none; `None` while they are worked out.
    pub fn channel(&self) -> Option<Result<Arc<Channel>, Failure>> {
        self.done.as_ref().map(|done| done.channel.clone())
    }

    /// What takes long, and how far it is.
    pub fn activity(&self) -> Option<(String, Option<f32>)> {
        let (request, task) = self.busy.as_ref()?;
        Some((request.long()?, task.fraction()))
    }

    /// Asks what takes long to stop; true when there is such a thing.
    pub fn cancel(&self) -> bool {
        let long = self.busy.as_ref().filter(|(request, _)| request.long().is_some());
        if let Some((_, task)) = long {
            task.cancel();
        }
        long.is_some()
    }
}
