/** `view.yaml`: the lenses of a View in their order, each with label, module and arguments. */
import { stringify } from 'yaml'
import { ServiceError } from '../../errors.ts'
import { isObject, type JsonObject } from '../../json-object.ts'
import { onOneLine } from '../../one-line.ts'
import { viewLimits } from '../../views/view.ts'
import { isLensLabel } from './names.ts'
import { parseProjectYaml } from './project-yaml.ts'
import type { LensArguments } from './view-content.ts'

/** A lens as the file has it. */
export interface ListedLens {
  readonly label: string
  /** Its module, from the project's folder on, with slashes. */
  readonly file: string
  readonly args: LensArguments | null
}

/** Of a key that is wrong. */
const maxShownCharacters = 80

const head = `# Lenses in the order in which documents pass them. The toolkit writes this file; edit it as you like:
# what is changed here or in the files beside it is the next version of the View.
`

/** The text of the file. */
export function viewYaml(lenses: readonly ListedLens[]): string {
  const listed = lenses.map(({ label, file, args }) => ({
    label,
    file,
    ...(args !== null && { args }),
  }))
  return `${head}${stringify({ lenses: listed }, { lineWidth: 0 })}`
}

/**
 * Reads the file.
 * @throws ServiceError `TOOLKIT_VIEW_UNREADABLE` with what is wrong in it.
 */
export function parseViewYaml(text: string, path: string): ListedLens[] {
  let content: unknown
  try {
    content = parseProjectYaml(text)
  } catch (cause) {
    throw unreadable(path, 'is no YAML', cause)
  }
  if (content === null) return []
  const { lenses, ...unknown } = objectOf(path, 'it', content)
  checkKnown(path, 'it', unknown)
  if (lenses === undefined || lenses === null) return []
  if (!Array.isArray(lenses)) throw unreadable(path, 'has lenses that are not a list')
  if (lenses.length > viewLimits.lenses)
    throw unreadable(path, `has ${lenses.length} lenses, and may have ${viewLimits.lenses}`)
  const listed = lenses.map((lens: unknown, index) => toLens(path, lens, `lens ${index + 1}`))
  const labels = listed.map(({ label }) => label)
  const twice = labels.find((label, index) => labels.indexOf(label) !== index)
  if (twice !== undefined) throw unreadable(path, `has two lenses with the label ${twice}`)
  return listed
}

function toLens(path: string, value: unknown, which: string): ListedLens {
  const { label, file, args = null, ...unknown } = objectOf(path, which, value)
  checkKnown(path, which, unknown)
  if (typeof label !== 'string' || !isLensLabel(label))
    throw unreadable(path, `has a label of ${which} that is none`)
  if (typeof file !== 'string' || file === '') throw unreadable(path, `names no file of ${which}`)
  // A message that quotes it would have lines of its own.
  if (/\p{C}/u.test(file)) throw unreadable(path, `has a file of ${which} that is no path`)
  return { label, file, args: args === null ? null : toArguments(path, which, args) }
}

function toArguments(path: string, which: string, value: unknown): LensArguments {
  const args = objectOf(path, `args of ${which}`, value)
  const wrong = Object.entries(args).find(([, each]) => typeof each !== 'string')
  if (wrong !== undefined)
    throw unreadable(
      path,
      `has args of ${which} whose value ${shownKey(wrong[0])} is not a string; write it in quotes`,
    )
  return args as LensArguments
}

function objectOf(path: string, which: string, value: unknown): JsonObject {
  if (!isObject(value)) throw unreadable(path, `is not a mapping where ${which} is`)
  return value
}

function checkKnown(path: string, which: string, rest: Readonly<Record<string, unknown>>): void {
  const [unknown] = Object.keys(rest)
  if (unknown !== undefined)
    throw unreadable(path, `has ${shownKey(unknown)} in ${which}, which is not known`)
}

function shownKey(key: string): string {
  return onOneLine(key, maxShownCharacters)
}

function unreadable(path: string, what: string, cause?: unknown): ServiceError {
  return new ServiceError('TOOLKIT_VIEW_UNREADABLE', `${path} ${what}`, {
    remedy:
      'It has the key lenses: a list of label, file and args. viewmesh view rollback restores what it was.',
    cause,
  })
}
