/**
 * The parts of README that follow from the code. Run as a program it writes them anew:
 * `npx node test/support/readme-sections.ts`.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { type ConditionDefinition, conditions } from '../../operator/api/conditions.ts'
import { type EventReason, eventReasons } from '../../operator/api/event-reasons.ts'
import { operatorSettings } from '../../operator/settings.ts'
import { devnetSettings } from '../../src/devnet/config.ts'
import { errorCodes } from '../../src/errors.ts'
import { generatorSettings } from '../../src/generator/config.ts'
import { hostSettings } from '../../src/host/config.ts'
import { commonSettings } from '../../src/service/common-settings.ts'
import { ports } from '../../src/service/contract.ts'
import { settingsTable } from '../../src/service/settings.ts'
import { failureReasons } from '../../src/verify/failure.ts'
import { peerMessagesTable } from './peer-messages.ts'
import { queryLimitsTable } from './query-limits.ts'

export const readme: URL = new URL('../../README.md', import.meta.url)

/** Text of each section by the name in its marker, `<!-- begin name -->`. */
export function readmeSections(): Readonly<Record<string, string>> {
  const common = commonSettings('host')
  const own = <T extends object>(table: T): T =>
    Object.fromEntries(Object.entries(table).filter(([name]) => !(name in common))) as T
  return {
    'settings of both': settingsTable({ ...common, storePath: bothStorePaths(common.storePath) }),
    'settings of the generator': settingsTable(own(generatorSettings)),
    'settings of the host': settingsTable(own(hostSettings)),
    'settings of the development chain': settingsTable(devnetSettings),
    'settings of the operator': settingsTable(operatorSettings),
    conditions: conditionTable(),
    'reasons of Events': eventTable(),
    errors: errorTable(),
    'reasons why nothing is proven': reasonTable(),
    ports: portTable(),
    'messages of peers': peerMessagesTable(),
    'limits of queries': queryLimitsTable(),
  }
}

/** Text of the section `name` as README has it. Throws where a marker is missing. */
export function readSection(text: string, name: string): string {
  const { from, to } = findSection(text, name)
  return text.slice(from, to)
}

/** README with all sections as the code has them now. */
export function renderReadme(text: string): string {
  return Object.entries(readmeSections()).reduce(
    (rendered, [name, section]) => withSection(rendered, name, section),
    text,
  )
}

/** The text with another section `name`. Throws where a marker is missing. */
export function withSection(text: string, name: string, section: string): string {
  const { from, to } = findSection(text, name)
  return text.slice(0, from) + section + text.slice(to)
}

function findSection(text: string, name: string): { from: number; to: number } {
  const begin = `<!-- begin ${name} -->\n`
  const from = text.indexOf(begin) + begin.length
  const to = text.indexOf(`\n<!-- end ${name} -->`, from - 1)
  if (!text.includes(begin) || to < 0) throw new Error(`the text has no section "${name}"`)
  return { from, to }
}

/** The one default that differs between the programs, shown for both. */
function bothStorePaths<T extends object>(setting: T): T {
  return { ...setting, default: '~/.viewmesh/generator` or `~/.viewmesh/host' }
}

function errorTable(): string {
  const rows = Object.entries(errorCodes)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([code, meaning]) => `| \`${code}\` | ${meaning} |`)
  return ['| Code | Meaning |', '| --- | --- |', ...rows].join('\n')
}

/** Why `viewmesh/verify` proves nothing, in the order in which it looks. */
function reasonTable(): string {
  const rows = Object.entries(failureReasons).map(
    ([code, meaning]) => `| \`${code}\` | ${meaning} |`,
  )
  return ['| Code | Why nothing is proven |', '| --- | --- |', ...rows].join('\n')
}

/** Every condition with its reasons and their status. */
function conditionTable(): string {
  const rows = Object.entries<ConditionDefinition>(conditions).flatMap(([type, definition]) => [
    `| **${type}** | | ${definition.meaning} |`,
    ...Object.entries(definition.reasons).map(
      ([reason, { status, meaning }]) => `| \`${reason}\` | ${status} | ${meaning} |`,
    ),
  ])
  return ['| Condition, reason | Status | Meaning |', '| --- | --- | --- |', ...rows].join('\n')
}

function eventTable(): string {
  const rows = Object.entries<EventReason>(eventReasons).map(
    ([reason, { type, meaning }]) => `| \`${reason}\` | ${type} | ${meaning} |`,
  )
  return ['| Reason | Type | Meaning |', '| --- | --- | --- |', ...rows].join('\n')
}

function portTable(): string {
  const rows: readonly (readonly [number, string, string])[] = [
    [ports.api, 'both', 'GraphQL'],
    [ports.playground, 'Host', 'playground'],
    [ports.p2p, 'both', 'libp2p; the one that other machines must reach'],
    [ports.health, 'both', 'health and metrics; the schema endpoint of the Generator'],
    [ports.publicHealth, 'both', '/health alone, where `HEALTH_PUBLIC_ADDR` asks for it'],
  ]
  const lines = rows.map((cells) => `| ${cells.join(' | ')} |`)
  return ['| Port | Program | Serves |', '| --- | --- | --- |', ...lines].join('\n')
}

if (import.meta.main) writeFileSync(readme, renderReadme(readFileSync(readme, 'utf8')))
