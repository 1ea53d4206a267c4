//! Tables: no borders, upper-case headings, numbers right-aligned.

use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Table, Width};

use crate::printer::WIDTH_DEFAULT;

/// Letters of a long name on one line, and the gap after it: all but one cloud's instance types are shorter.
const LONG_NAME_MAX: u16 = 34;

/// One column.
pub enum Column {
    /// Names, left-aligned and never broken.
    Names(String),
    /// Names of which a few are so long that nothing else would fit beside them; only those are broken.
    LongNames(String),
    /// Words, left-aligned, broken when the table grows too wide.
    Words(String),
    /// Figures, right-aligned and never broken; the unit belongs in the heading.
    Figures(String),
}

/// Lays rows out under upper-case headings within the width that the house promises.
pub fn render<'c>(
    columns: impl IntoIterator<Item = &'c Column>,
    rows: impl IntoIterator<Item = Vec<String>>,
) -> String {
    let columns: Vec<&Column> = columns.into_iter().collect();
    let mut table = Table::new();
    table.load_style(comfy_table::presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
    table.set_width(u16::try_from(WIDTH_DEFAULT).unwrap_or(u16::MAX));
    let heading = |column: &&Column| match column {
        Column::Names(name) | Column::LongNames(name) | Column::Words(name) | Column::Figures(name) => {
            name.to_uppercase()
        }
    };
    table.set_header(columns.iter().map(heading));
    for row in rows {
        table.add_row(row);
    }
    for (index, column) in columns.iter().enumerate() {
        if let Some(cells) = table.column_mut(index) {
            cells.set_padding((0, 2));
            if matches!(column, Column::Figures(_)) {
                cells.set_cell_alignment(CellAlignment::Right);
            }
            let bound = match column {
                Column::Words(_) => continue,
                Column::LongNames(_) => ColumnConstraint::UpperBoundary(Width::Fixed(LONG_NAME_MAX)),
                Column::Names(_) | Column::Figures(_) => ColumnConstraint::ContentWidth,
            };
            cells.set_constraint(bound);
        }
    }
    table.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}
