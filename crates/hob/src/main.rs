//! `hob`: plan, run and pay for GPU compute. This binary parses arguments and renders; it decides nothing.

mod cli;
mod commands;
mod exit;
mod failure;
mod printer;
mod table;

use clap::Parser;

fn main() -> std::process::ExitCode {
    let cli = match cli::Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are answers, not mistakes; everything else is wrong usage.
            let code = if error.use_stderr() { exit::Code::WrongInput } else { exit::Code::Done };
            let _ = error.print();
            return code.into();
        }
    };
    let printer = printer::Printer::new(&cli.global);
    match commands::run(cli.command, &cli.global.catalogs, &printer) {
        Ok(code) => code.into(),
        Err(failure) => {
            printer.failure(&failure);
            failure.code.into()
        }
    }
}
