/** The sections of the documentation that are made from code, each with the page that holds it. */
import { readFileSync } from 'node:fs'
import { operatorSettings } from '../../operator/settings.ts'
import { devnetSettings } from '../../src/devnet/config.ts'
import { errorCodes } from '../../src/errors.ts'
import { generatorSettings } from '../../src/generator/config.ts'
import { hostSettings } from '../../src/host/config.ts'
import { commonSettings } from '../../src/service/settings/common-settings.ts'
import { settingsTable } from '../../src/service/settings/settings.ts'
import { failureReasons } from '../../src/verify/failure.ts'
import { repository } from '../support/repository.ts'
import { contractTable } from './app/contract-table.ts'
import { conditionChapters, eventsTable } from './conditions-table.ts'
import { endpointsTable } from './endpoints-table.ts'
import { fiveFigures } from './five-figures.ts'
import { metricsTables } from './metrics-table.ts'
import { peerMessagesTable } from './peer-messages.ts'
import { portsTable } from './ports-table.ts'
import { queryLimitsTable } from './query-limits.ts'
import { healthTable, viewTable } from './report-table.ts'
import { withSection } from './section-text.ts'
import { table } from './table.ts'

/** Text of each section by the name in its markers, by the page that holds it. */
function sections(): Readonly<Record<string, Readonly<Record<string, string>>>> {
  return {
    'README.md': { ports: portsTable(), 'five figures': fiveFigures() },
    'docs/app.md': {
      'options of openApp': contractTable('AppOptions'),
      'state of a View': contractTable('ViewReport'),
      'state of a Host': contractTable('LinkReport'),
    },
    'docs/graphql.md': { 'limits of queries': queryLimitsTable() },
    'docs/proofs.md': {
      'reasons why nothing is proven': codeTable('Why nothing is proven', failureReasons),
    },
    'docs/security.md': { 'messages of peers': peerMessagesTable() },
    'docs/reference/settings.md': settingsSections(),
    'docs/reference/conditions.md': {
      conditions: conditionChapters(),
      'reasons of Events': eventsTable(),
    },
    'docs/reference/errors.md': { errors: codeTable('Meaning', sortedErrors()) },
    'docs/reference/metrics.md': metricsTables(),
    'docs/reference/endpoints.md': { endpoints: endpointsTable(), 'a View': viewTable() },
    'docs/reference/health.md': { health: healthTable() },
    'docs/reference/ports.md': { ports: portsTable() },
  }
}

/** Text of each page by its path in the repository, with its sections as the code has them now. */
export function docPages(): ReadonlyMap<string, string> {
  const pages = Object.entries(sections()).map(([page, texts]): [string, string] => [
    page,
    Object.entries(texts).reduce(
      (text, [name, section]) => withSection(text, name, section),
      readFileSync(`${repository}/${page}`, 'utf8'),
    ),
  ])
  return new Map(pages)
}

function settingsSections(): Readonly<Record<string, string>> {
  const common = commonSettings('host')
  const own = <T extends object>(all: T): T =>
    Object.fromEntries(Object.entries(all).filter(([name]) => !(name in common))) as T
  return {
    'settings of both': settingsTable({ ...common, storePath: bothStorePaths(common.storePath) }),
    'settings of the generator': settingsTable(own(generatorSettings)),
    'settings of the host': settingsTable(own(hostSettings)),
    'settings of the development chain': settingsTable(devnetSettings),
    'settings of the operator': settingsTable(operatorSettings),
  }
}

/** The one default that differs between the programs, shown for both. */
function bothStorePaths<T extends object>(setting: T): T {
  return { ...setting, default: '~/.viewmesh/generator` or `~/.viewmesh/host' }
}

function sortedErrors(): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(errorCodes).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

function codeTable(meaning: string, codes: Readonly<Record<string, string>>): string {
  const rows = Object.entries(codes).map(([code, text]) => [`\`${code}\``, text])
  return table(['Code', meaning], rows)
}
