/**
 * The files of the playground: GraphiQL and React as their packages ship them for browsers, found
 * where Node finds the packages, and the script of our own page. Each has its version in its path.
 */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { ServiceError } from '../../errors.ts'
import { playgroundScript } from './playground-script.ts'

/** A file as it is served. */
export interface PlaygroundFile {
  /** Changes whenever the content does. */
  readonly path: string
  readonly contentType: string
  readonly content: Buffer
  /** The content compressed, made when it is first asked for. */
  gzipped(): Promise<Buffer>
}

const scriptType = 'text/javascript; charset=utf-8'
const styleType = 'text/css; charset=utf-8'

const packaged = [
  { name: 'react', file: 'umd/react.production.min.js', contentType: scriptType },
  { name: 'react-dom', file: 'umd/react-dom.production.min.js', contentType: scriptType },
  { name: 'graphiql', file: 'graphiql.min.js', contentType: scriptType },
  { name: 'graphiql', file: 'graphiql.min.css', contentType: styleType },
] as const

/** Reads every file, in the order in which a page loads them. Throws GRAPHQL_PLAYGROUND_MISSING. */
export async function readPlaygroundFiles(): Promise<readonly PlaygroundFile[]> {
  const script = Buffer.from(playgroundScript())
  const digest = createHash('sha256').update(script).digest('hex').slice(0, 16)
  const own = toFile(`/assets/playground-${digest}.js`, scriptType, script)
  return [...(await Promise.all(packaged.map(readPackaged))), own]
}

async function readPackaged(one: (typeof packaged)[number]): Promise<PlaygroundFile> {
  const { name, file, contentType } = one
  try {
    const manifest = import.meta.resolve(`${name}/package.json`)
    const { version } = JSON.parse(await readFile(new URL(manifest), 'utf8'))
    const content = await readFile(new URL(file, manifest))
    return toFile(`/assets/${name}-${version}/${file.replace('umd/', '')}`, contentType, content)
  } catch (cause) {
    throw new ServiceError('GRAPHQL_PLAYGROUND_MISSING', `${file} of ${name} cannot be read`, {
      facts: { package: name, file },
      remedy: 'Install the dependencies again: npm ci --omit=dev.',
      cause,
    })
  }
}

function toFile(path: string, contentType: string, content: Buffer): PlaygroundFile {
  let compressed: Promise<Buffer> | undefined
  return {
    path,
    contentType,
    content,
    gzipped() {
      compressed ??= promisify(gzip)(content)
      return compressed
    },
  }
}
