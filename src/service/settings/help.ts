/** The help text of a command, made from its settings. */
import { Command } from 'commander'
import { type AnySetting, type AnyTable, defaultText, flagOf } from './setting.ts'

export interface HelpOptions {
  /** As typed: `viewmesh host`. */
  readonly command: string
  readonly summary: string
  /** Columns of the terminal. */
  readonly width: number
}

/** All flags with environment name, default and accepted values. */
export function helpText(options: HelpOptions, table: AnyTable): string {
  const command = new Command(options.command)
    .description(options.summary)
    .configureHelp({ helpWidth: options.width })
    .option('--config <file>', 'YAML file; the environment overrides it, flags override both')
  for (const setting of Object.values(table)) {
    command.option(`--${flagOf(setting)} <${setting.secret ? 'file' : 'value'}>`, about(setting))
  }
  return command.helpInformation()
}

function about(setting: AnySetting): string {
  const unit = setting.unit === undefined ? '' : `, in ${setting.unit}`
  const fallback = defaultText(setting).replaceAll('`', '')
  const names = setting.secret ? `${setting.env} or ${setting.env}_FILE` : setting.env
  return `${setting.doc} Accepted: ${setting.kind.accepts}${unit}. (${names}; default: ${fallback})`
}
