//! The kinds of questions, a row each: what they are about, how they are answered, and what they give away.

/// A kind of question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ask {
    /// Which lanes vote in this ballot?
    Votes,
    /// Which slot does this lane write?
    Slot,
    /// With which lane does this one exchange keys?
    Partner,
    /// Do these two elements swap?
    Swaps,
    /// Does this element come from the intermediate result?
    Taken,
    /// How many merges will there be?
    Merges,
    /// Of a tree: how many leaves will be visited?
    Leaves,
    /// Of a tree: how many leaves would be visited if boxes were visited as they lie?
    Order,
    /// Of a tree: which lane's child is visited next?
    Child,
    /// Of a tree: is the nearest child that is left visited?
    Visited,
    /// Of warp select: which lanes take their key?
    Takes,
    /// Of warp select: does this group cause a merge?
    Breaks,
    /// Of a selection by digits: which bucket holds the k-th?
    Bucket,
    /// Of a selection by digits: how many points are left after this pass?
    Left,
    /// Of threads with a query each: which lanes insert this point?
    Inserts,
    /// Of threads with a query each: does a lane that does not insert have to wait?
    Waits,
    /// Of threads with a query each: how many rounds of sinking does the warp spend?
    Rounds,
    /// Of threads with a query each: how many lanes' slots are idle in these rounds?
    Idle,
    /// Why is the algorithm as it is?
    Why,
    /// What would come of a change?
    WhatIf,
    /// What becomes of the idea in another case?
    Transfer,
}

/// What a question is about in the picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum About {
    /// Nothing in particular.
    All,
    /// The lane that is its subject.
    Lane,
    /// The comparator whose lower element is its subject.
    Comparator,
    /// The element that is its subject, and the slot that it meets.
    Element,
}

/// What is pointed at in the picture to give a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pointed {
    /// A lane, or the bucket that a lane has.
    Lane,
    /// A slot of the buffer.
    Slot,
}

/// How a kind of question is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// By lanes.
    Lanes {
        /// What they do: `Voting`.
        doing: &'static str,
        /// What is said while none is chosen.
        none: &'static str,
        /// Whether the warp holds a ballot on it, which is the answer too.
        ballot: bool,
    },
    /// By a number.
    Number {
        /// What it is the number of: `Lane`.
        noun: &'static str,
        /// What can be pointed at instead of typing it.
        pointed: Option<Pointed>,
    },
    /// By yes or no.
    YesNo,
    /// By one of the options.
    Choice,
}

/// A kind of question, with all that is known of it.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// Which one it is.
    pub ask: Ask,
    /// What it is about.
    pub about: About,
    /// How it is answered.
    pub form: Form,
    /// What of the recording it gives away.
    pub tells: Tells,
}

/// What is seen once a question is asked or answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tells {
    /// The step at which it is asked.
    Step,
    /// That, and by its text also the answer to a question about the step before.
    StepBefore,
    /// How the search ends: until it is answered, nothing that is still to come may be seen.
    End,
    /// No step at all: the answer is an idea.
    Idea,
}

impl Ask {
    /// All that is known of the kind.
    pub fn kind(self) -> &'static Kind {
        &KINDS[self as usize]
    }

    /// Whether it is about the whole search: until it is answered, nothing that is still to come may be seen.
    pub fn is_about_all(self) -> bool {
        self.kind().tells == Tells::End
    }

    /// Whether two questions can be about the same step: one step decides about many elements.
    pub fn shares_steps(self) -> bool {
        self.kind().about == About::Element
    }

    /// Whether it asks for an idea, not for what a step does.
    pub fn is_idea(self) -> bool {
        self.kind().tells == Tells::Idea
    }
}

const fn row(ask: Ask, about: About, form: Form, tells: Tells) -> Kind {
    Kind { ask, about, form, tells }
}

const fn lanes(doing: &'static str, none: &'static str, ballot: bool) -> Form {
    Form::Lanes { doing, none, ballot }
}

const fn number(noun: &'static str, pointed: Option<Pointed>) -> Form {
    Form::Number { noun, pointed }
}

/// All kinds, in the order of [`Ask`].
pub const KINDS: [Kind; 21] = [
    row(Ask::Votes, About::All, lanes("Voting", "No lane votes", true), Tells::Step),
    row(Ask::Slot, About::Lane, number("Slot", Some(Pointed::Slot)), Tells::StepBefore),
    row(Ask::Partner, About::Lane, number("Lane", Some(Pointed::Lane)), Tells::Step),
    row(Ask::Swaps, About::Comparator, Form::YesNo, Tells::Step),
    row(Ask::Taken, About::Element, Form::YesNo, Tells::Step),
    row(Ask::Merges, About::All, number("Number", None), Tells::End),
    row(Ask::Leaves, About::All, number("Number", None), Tells::End),
    row(Ask::Order, About::All, number("Number", None), Tells::End),
    row(Ask::Child, About::All, number("Lane", Some(Pointed::Lane)), Tells::Step),
    row(Ask::Visited, About::Lane, Form::YesNo, Tells::Step),
    row(Ask::Takes, About::All, lanes("Taking", "No lane takes its key", false), Tells::Step),
    row(Ask::Breaks, About::All, Form::YesNo, Tells::Step),
    row(Ask::Bucket, About::All, number("Bucket", Some(Pointed::Lane)), Tells::Step),
    row(Ask::Left, About::All, number("Number", None), Tells::Step),
    row(Ask::Inserts, About::All, lanes("Inserting", "No lane inserts", false), Tells::Step),
    row(Ask::Waits, About::Lane, Form::YesNo, Tells::Step),
    row(Ask::Rounds, About::All, number("Number", None), Tells::StepBefore),
    row(Ask::Idle, About::All, number("Number", None), Tells::StepBefore),
    row(Ask::Why, About::All, Form::Choice, Tells::Idea),
    row(Ask::WhatIf, About::All, Form::Choice, Tells::Idea),
    row(Ask::Transfer, About::All, Form::Choice, Tells::Idea),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_stands_in_its_own_row() {
        for (at, kind) in KINDS.iter().enumerate() {
            assert_eq!((kind.ask as usize, kind.ask.kind().ask), (at, kind.ask));
        }
        assert_eq!(Ask::Transfer as usize + 1, KINDS.len());
    }
}
