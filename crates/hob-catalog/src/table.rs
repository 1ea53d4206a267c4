//! One way to read a CSV file: by column name, with file, line and column in each error, and bounded.

use rust_decimal::Decimal;

use crate::error::{CatalogError, RowError, RowErrors};
use crate::expected::Expected;

/// Largest catalog file that is read. SkyPilot's largest (all AWS zones) is under 4 MiB.
pub const FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Most rows of one file. SkyPilot's largest has about 40 000.
pub const FILE_ROWS_MAX: usize = 1_000_000;
/// Most columns of one file; a wider one is not a catalog.
const COLUMNS_MAX: usize = 256;

/// A file whose header has been read.
pub(crate) struct Table<'t> {
    file: &'t str,
    reader: csv::Reader<&'t [u8]>,
    header: Header,
}

/// Column names in lower case with their places, sorted by length and then by name: most comparisons end at the length.
pub(crate) struct Header {
    places: Vec<(String, usize)>,
    shown: String,
    width: usize,
}

impl Header {
    fn place(&self, column: &str) -> Option<usize> {
        let key = (column.len(), column);
        let found = self.places.binary_search_by(|(name, _)| (name.len(), name.as_str()).cmp(&key)).ok()?;
        self.places.get(found).map(|(_, place)| *place)
    }
}

impl<'t> Table<'t> {
    /// Reads the header. A byte-order mark is skipped.
    pub(crate) fn open(file: &'t str, text: &'t str) -> Result<Self, CatalogError> {
        if text.len() as u64 > FILE_BYTES_MAX {
            return Err(CatalogError::TooLarge { file: file.to_owned(), limit_mib: FILE_BYTES_MAX >> 20 });
        }
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        if text.trim().is_empty() {
            return Err(CatalogError::Empty { file: file.to_owned() });
        }
        let mut reader = csv::ReaderBuilder::new().flexible(true).has_headers(true).from_reader(text.as_bytes());
        let names = reader.headers().map_err(|_| CatalogError::Empty { file: file.to_owned() })?.clone();
        let shown: String = names.iter().take(40).collect::<Vec<_>>().join(",").chars().take(400).collect();
        if names.len() > COLUMNS_MAX {
            return Err(CatalogError::UnknownForm { file: file.to_owned(), found: shown });
        }
        let mut places: Vec<(String, usize)> =
            names.iter().enumerate().map(|(place, name)| (name.trim().to_ascii_lowercase(), place)).collect();
        places.sort_by(|(a, _), (b, _)| (a.len(), a).cmp(&(b.len(), b)));
        Ok(Self { file, reader, header: Header { places, shown, width: names.len() } })
    }

    /// Fails when a column (or all alternatives of `a|b`) is absent.
    pub(crate) fn require(&self, columns: &[&str]) -> Result<(), CatalogError> {
        for column in columns {
            if !column.split('|').any(|name| self.has(name)) {
                return Err(CatalogError::MissingColumn {
                    file: self.file.to_owned(),
                    column: (*column).to_owned(),
                    found: self.header.shown.clone(),
                });
            }
        }
        Ok(())
    }

    pub(crate) fn has(&self, column: &str) -> bool {
        self.header.place(column).is_some()
    }

    /// Columns that are not in `known`, with their places, in file order.
    pub(crate) fn other_columns(&self, known: &[&str]) -> Vec<(String, usize)> {
        let unknown = self.header.places.iter().filter(|(name, _)| !known.contains(&name.as_str()));
        let mut places: Vec<(String, usize)> = unknown.cloned().collect();
        places.sort_by_key(|(_, place)| *place);
        places
    }

    pub(crate) fn shown_header(&self) -> &str {
        &self.header.shown
    }

    /// Hands each row to `each`; what it returns as an error is kept with the file's other row errors.
    pub(crate) fn each_row(
        mut self,
        mut each: impl FnMut(&Row<'_>) -> Result<(), RowError>,
    ) -> Result<(), CatalogError> {
        let mut errors = RowErrors::default();
        let mut record = csv::StringRecord::new();
        let mut rows = 0_usize;
        loop {
            match self.reader.read_record(&mut record) {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => {
                    let line = error.position().map_or(0, csv::Position::line);
                    errors.push(RowError::new(self.file, line, "row", "", Expected::Csv));
                    break;
                }
            }
            let row = Row { file: self.file, header: &self.header, record: &record };
            if record.len() != self.header.width {
                let expected = Expected::Cells(self.header.width);
                errors.push(RowError::new(self.file, row.line(), "row", &record.len().to_string(), expected));
                continue;
            }
            if let Some(cell) = record.iter().find(|cell| cell.contains('\n')) {
                errors.push(RowError::new(self.file, row.line(), "row", cell, Expected::OneLine));
                continue;
            }
            if record.iter().all(|cell| cell.trim().is_empty()) {
                continue;
            }
            rows += 1;
            if rows > FILE_ROWS_MAX {
                return Err(CatalogError::TooManyRows { file: self.file.to_owned(), limit: FILE_ROWS_MAX });
            }
            errors.take(each(&row));
        }
        if rows == 0 && errors.is_empty() {
            return Err(CatalogError::Empty { file: self.file.to_owned() });
        }
        errors.finish(self.file, ())
    }
}

/// One row.
pub(crate) struct Row<'r> {
    file: &'r str,
    header: &'r Header,
    record: &'r csv::StringRecord,
}

impl<'r> Row<'r> {
    pub(crate) fn line(&self) -> u64 {
        self.record.position().map_or(0, csv::Position::line)
    }

    /// `file:line`, which is the source of a user's own row.
    pub(crate) fn origin(&self) -> String {
        format!("{}:{}", self.file, self.line())
    }

    /// The trimmed cell; `None` when it is empty or the column is absent. `a|b` takes the first that is there.
    pub(crate) fn text(&self, columns: &str) -> Option<&'r str> {
        columns
            .split('|')
            .filter_map(|column| self.record.get(self.header.place(column)?))
            .map(str::trim)
            .find(|cell| !cell.is_empty())
    }

    pub(crate) fn owned(&self, columns: &str) -> Option<String> {
        self.text(columns).map(str::to_owned)
    }

    /// The cell, which must be there; `example` is one that would do.
    pub(crate) fn required(&self, columns: &str, example: &'static str) -> Result<&'r str, RowError> {
        self.text(columns).ok_or_else(|| self.error(columns, "", Expected::Like(example)))
    }

    /// An error at this row. `columns` may hold alternatives; the present one is named.
    pub(crate) fn error(&self, columns: &str, got: &str, expected: Expected) -> RowError {
        let named = columns.split('|').find(|column| self.header.place(column).is_some()).unwrap_or(columns);
        RowError::new(self.file, self.line(), named, got, expected)
    }

    /// The cell through `read`, which answers `None` for a wrong value.
    pub(crate) fn parsed<T>(
        &self,
        columns: &str,
        expected: Expected,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, RowError> {
        match self.text(columns) {
            None => Ok(None),
            Some(cell) => read(cell).map(Some).ok_or_else(|| self.error(columns, cell, expected)),
        }
    }

    /// A finite number from 0 to `max`.
    pub(crate) fn number(&self, columns: &str, max: f64) -> Result<Option<f64>, RowError> {
        let read = |cell: &str| cell.parse::<f64>().ok().filter(|number| (0.0..=max).contains(number));
        self.parsed(columns, Expected::Number(max as u64), read)
    }

    /// A whole number from 0 to `max`; `8.0` counts as 8, because spreadsheets write it so.
    pub(crate) fn whole(&self, columns: &str, max: u32) -> Result<Option<u32>, RowError> {
        let read = |cell: &str| {
            let number = cell.parse::<f64>().ok()?;
            (number.fract() == 0.0 && (0.0..=f64::from(max)).contains(&number)).then_some(number as u32)
        };
        self.parsed(columns, Expected::Whole(0, max), read)
    }

    /// A price above zero and up to `max`.
    pub(crate) fn amount(&self, columns: &str, max: u64) -> Result<Option<Decimal>, RowError> {
        let read = |cell: &str| read_decimal(cell).filter(|amount| *amount > Decimal::ZERO && *amount <= max.into());
        self.parsed(columns, Expected::Amount(max), read)
    }

    /// The cells of certain places with their column names: facts that have no field of their own.
    pub(crate) fn cells(&self, places: &[(String, usize)]) -> Vec<(String, String)> {
        let cell = |(name, place): &(String, usize)| {
            let cell = self.record.get(*place)?.trim();
            (!cell.is_empty()).then(|| (name.clone(), cell.to_owned()))
        };
        places.iter().filter_map(cell).collect()
    }
}

/// A decimal, also in the form `1e-3` that spreadsheets export.
pub(crate) fn read_decimal(cell: &str) -> Option<Decimal> {
    cell.parse::<Decimal>().ok().or_else(|| Decimal::from_scientific(cell).ok())
}

/// Text from bytes, bounded, or the line of the first byte that is not UTF-8.
pub(crate) fn text_of<'b>(file: &str, bytes: &'b [u8]) -> Result<&'b str, CatalogError> {
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(CatalogError::TooLarge { file: file.to_owned(), limit_mib: FILE_BYTES_MAX >> 20 });
    }
    std::str::from_utf8(bytes).map_err(|error| {
        let before = bytes.get(..error.valid_up_to()).unwrap_or_default();
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count() as u64;
        CatalogError::NotText { file: file.to_owned(), line }
    })
}
