//! A site of all lessons: its index, the links between its pages, and the manifest of the same pages as a
//! SCORM package.

use std::fmt::Write as _;

use super::{VERSION, styled};
use crate::draw::svg::escaped;
use crate::lessons::{LESSONS, Lesson};
use crate::text::count;

/// The page that lists all lessons.
pub const INDEX: &str = "index.html";

/// The manifest of a SCORM package.
pub const MANIFEST: &str = "imsmanifest.xml";

/// How every page of this program begins to say so.
pub const GENERATOR: &str = "<meta name=\"generator\" content=\"Warpscope ";

const TEMPLATE: &str = include_str!("index.html");

/// The file name of a lesson's page.
pub fn page_name(lesson: &Lesson) -> String {
    format!("{}.html", lesson.id)
}

/// The links of a lesson's page: to the lessons before and after it, and to the index.
pub fn navigation(lesson: &Lesson) -> String {
    let to = |number: Option<u32>, direction: &str, name: &str| {
        let other = LESSONS.iter().find(|other| Some(other.number) == number);
        other.map_or_else(String::new, |other| {
            let (href, title) = (page_name(other), escaped(other.title));
            format!("<a rel=\"{direction}\" href=\"{href}\">{name}<span>: {title}</span></a>\n")
        })
    };
    format!(
        "<nav aria-label=\"Lessons\">\n<a href=\"{INDEX}\">All lessons</a>\n{}{}</nav>",
        to(lesson.number.checked_sub(1), "prev", "Previous"),
        to(Some(lesson.number + 1), "next", "Next")
    )
}

/// The index of all lessons.
pub fn index() -> String {
    let list = LESSONS.iter().fold(String::new(), |mut list, lesson| {
        let _ = writeln!(
            list,
            "<li><span>{}</span><a href=\"{}\">{}</a><span class=\"weak\">{}{}</span><p>{}</p></li>",
            lesson.number,
            page_name(lesson),
            escaped(lesson.title),
            if lesson.minutes.is_route() { "\u{25cf} " } else { "" },
            count(lesson.minutes.count().into(), "minute", "minutes"),
            escaped(&lesson.fill_in(lesson.goal, lesson.shape()))
        );
        list
    });
    let letters = [list.clone(), TEMPLATE.to_owned()];
    let parts = [("{lessons}", LESSONS.len().to_string()), ("{list}", list)];
    styled(TEMPLATE, &letters.each_ref().map(String::as_str), false, parts)
}

/// The manifest of a SCORM 1.2 package with a page for each lesson. Every page reports its own score, time
/// and place.
pub fn manifest() -> String {
    let (mut items, mut resources) = (String::new(), String::new());
    for lesson in &LESSONS {
        let (id, title, href) = (lesson.id, escaped(lesson.title), page_name(lesson));
        let _ = writeln!(
            items,
            "<item identifier=\"item-{id}\" identifierref=\"page-{id}\"><title>{}. {title}</title></item>",
            lesson.number
        );
        let _ = writeln!(
            resources,
            "<resource identifier=\"page-{id}\" type=\"webcontent\" adlcp:scormtype=\"sco\" \
             href=\"{href}\"><file href=\"{href}\"/></resource>"
        );
    }
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<manifest identifier=\"warpscope-lessons\" \
         version=\"{VERSION}\" xmlns=\"http://www.imsproject.org/xsd/imscp_rootv1p1p2\" \
         xmlns:adlcp=\"http://www.adlnet.org/xsd/adlcp_rootv1p2\">\n<metadata><schema>ADL \
         SCORM</schema><schemaversion>1.2</schemaversion></metadata>\n<organizations \
         default=\"lessons\">\n<organization identifier=\"lessons\">\n<title>Exact nearest neighbours, \
         step by step</title>\n{items}</organization>\n</organizations>\n<resources>\n{resources}</resources>\n\
         </manifest>\n"
    )
}
