/** The limits of GraphQL requests, as the settings of either program name them. */
import { type CommonSettings, commonSettings } from './common-settings.ts'

/** Bounds of one request, and of the memory that all requests share. */
interface GraphqlLimits {
  readonly maxDepth: number
  readonly maxConditions: number
  readonly maxCost: number
  readonly maxRows: number
  readonly maxResultBytes: number
  readonly maxMs: number
  readonly maxHeldBytes: number
  /** The environment names of those that refusals name. */
  readonly settings: Readonly<Record<'maxConditions' | 'maxRows' | 'maxHeldBytes', string>>
}

const table = commonSettings('host')

/** The limits that these settings set. */
export function graphqlLimits(settings: CommonSettings): GraphqlLimits {
  return {
    maxDepth: settings.graphqlMaxDepth,
    maxConditions: settings.graphqlMaxConditions,
    maxCost: settings.graphqlMaxCost,
    maxRows: settings.graphqlMaxRows,
    maxResultBytes: settings.graphqlMaxResultBytes,
    maxMs: settings.graphqlMaxMs,
    maxHeldBytes: settings.graphqlMaxHeldBytes,
    settings: {
      maxConditions: table.graphqlMaxConditions.env,
      maxRows: table.graphqlMaxRows.env,
      maxHeldBytes: table.graphqlMaxHeldBytes.env,
    },
  }
}
