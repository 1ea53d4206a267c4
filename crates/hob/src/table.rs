//! Tables: no borders, upper-case headings, numbers right-aligned.

use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Table};

use crate::printer::WIDTH_DEFAULT;

/// One column.
pub enum Column {
    /// Names, left-aligned and never broken.
    Names(String),
    /// Words, left-aligned, broken when the table grows too wide.
    Words(String),
    /// Figures, right-aligned and never broken; the unit belongs in the heading.
    Figures(String),
}

/// Lays rows out under upper-case headings within the width that the house promises.
pub fn render(columns: &[Column], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(comfy_table::presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
    table.set_width(u16::try_from(WIDTH_DEFAULT).unwrap_or(u16::MAX));
    let heading = |column: &Column| match column {
        Column::Names(name) | Column::Words(name) | Column::Figures(name) => name.to_uppercase(),
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
            if !matches!(column, Column::Words(_)) {
                cells.set_constraint(ColumnConstraint::ContentWidth);
            }
        }
    }
    table.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}
