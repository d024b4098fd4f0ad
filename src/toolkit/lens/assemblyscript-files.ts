/** The files of a new lens in AssemblyScript: the SDK of the lenses that ship is copied, so that it needs the compiler alone. */
import { readdir, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

/** Of the compiler that the lenses which ship are made with. */
const compilerVersion = '0.28.20'

const lensText = `/** Keeps the logs of one contract, and says how many topics each has. */
import { isObject, notAnObject, notSet, takeText } from './sdk/arguments'
import { alloc as inputBuffer } from './sdk/input'
import { isString, sameTextInAnyCase, Text } from './sdk/json-text'
import { fields, missingField, openLog, problem, topicCount } from './sdk/log'
import { beginDocument, endDocument, nilItem, putCount, putText } from './sdk/output'
import { passOn, pull } from './sdk/stream'

const wanted = new Text()
const scratch = new Text()
let isSet = false

/** Where the Host writes what it gives. */
export function alloc(size: usize): usize {
  return inputBuffer(size)
}

/** The arguments, once before the first document: nil, or an error. */
export function set_param(item: usize): usize {
  isSet = false
  if (!isObject(item)) return notAnObject()
  const error = takeText(item, 'address', wanted)
  if (error !== 0) return error
  isSet = true
  return nilItem()
}

/** One document out, of one document in; nil drops it. */
export function transform(): usize {
  if (!isSet) return notSet()
  // Nil, errors and the end of the stream go on as they are.
  if (!pull()) return passOn()
  if (!openLog()) return problem
  const address = fields.find('address')
  if (address < 0) return missingField('address')
  if (!isWanted(fields.value(address), fields.valueEnd(address))) return nilItem()
  beginDocument()
  putText('{"address":')
  fields.putValue(address)
  putText(',"topicCount":')
  putCount(topicCount)
  putText('}')
  return endDocument()
}

function isWanted(value: usize, end: usize): bool {
  return isString(value) && sameTextInAnyCase(value, end, wanted, scratch)
}
`

const readme = (name: string): string => `# ${name}

A lens in AssemblyScript. \`npm install\` gets the compiler; then

    viewmesh lens build
    viewmesh lens doctor ${name}.wasm --args '{"address": "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48"}'

The lens is \`assembly/lens.ts\`. What is in \`assembly/sdk\` is yours to change.
`

/** Paths in the project, and texts. */
export async function assemblyScriptFiles(name: string): Promise<ReadonlyMap<string, string>> {
  const sources = new URL('../../lenses/', import.meta.url)
  const sdk = new URL('sdk/', sources)
  const names = (await readdir(fileURLToPath(sdk))).filter((each) => each.endsWith('.ts'))
  const copied = names.map(
    async (each) => [`assembly/sdk/${each}`, await readFile(new URL(each, sdk), 'utf8')] as const,
  )
  const manifest = {
    name,
    private: true,
    scripts: { build: 'viewmesh lens build' },
    devDependencies: { assemblyscript: compilerVersion },
  }
  return new Map([
    ['package.json', json(manifest)],
    ['asconfig.json', await readFile(new URL('asconfig.json', sources), 'utf8')],
    ['assembly/lens.ts', lensText],
    ['assembly/tsconfig.json', json({ extends: 'assemblyscript/std/assembly.json' })],
    ['.gitignore', 'node_modules\n'],
    ['README.md', readme(name)],
    ...(await Promise.all(copied)),
  ])
}

function json(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`
}
