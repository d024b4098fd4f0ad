/**
 * What is in the images: which of our rooms, and of the installed packages those that they import,
 * without what only people and compilers read.
 */

/**
 * Generator and Host share one folder of programs, and so one layer; the toolkit's is a layer on top of that one, and
 * the operator has its own.
 */
export const programFolders = ['service', 'toolkit', 'operator'] as const

export type ProgramFolder = (typeof programFolders)[number]

interface Contents {
  /** The folder that lies below in the image; files that are there already are not brought again. */
  readonly onTopOf?: ProgramFolder
  /** Paths in the build, whole folders or files. */
  readonly built: readonly string[]
  /** Folders below them that are of no use in a container, except what `built` names inside of them. */
  readonly left: readonly string[]
  /** Packages that are loaded by a name no import shows. */
  readonly loaded: readonly string[]
  /** Packages that are imported, and never on the paths that a container takes. */
  readonly absent: readonly string[]
  /** Files that browsers get as they are; their packages' dependencies are inside them. */
  readonly served: readonly string[]
}

/** What each folder of programs holds. */
export const contents: Readonly<Record<ProgramFolder, Contents>> = {
  service: {
    // Help lists the commands of the toolkit without it.
    built: ['src', 'src/toolkit/toolkit-commands.js'],
    left: ['src/app', 'src/devnet', 'src/toolkit', 'src/registry/precompile'],
    loaded: ['pino-pretty'],
    absent: [],
    served: [
      'react/package.json',
      'react/LICENSE',
      'react/umd/react.production.min.js',
      'react-dom/package.json',
      'react-dom/LICENSE',
      'react-dom/umd/react-dom.production.min.js',
      'graphiql/package.json',
      'graphiql/LICENSE',
      'graphiql/graphiql.min.js',
      'graphiql/graphiql.min.css',
    ],
  },
  // With a Host, which `viewmesh view dev` and a local deployment run.
  toolkit: {
    onTopOf: 'service',
    built: ['src'],
    left: ['src/app', 'src/devnet'],
    loaded: [],
    absent: [],
    served: [],
  },
  operator: {
    built: [
      ...['operator', 'src/service', 'src/views', 'src/errors.js', 'src/plain-error.js'],
      ...[
        'src/bracket-depth.js',
        'src/did-you-mean.js',
        'src/json-object.js',
        'src/primitives/backoff.js',
        'src/primitives/names.js',
      ],
      ...['src/primitives/checksum-address.js', 'src/primitives/collections.js'],
      'src/identity/base58.js',
    ],
    left: ['operator/plugin'],
    loaded: ['pino-pretty'],
    // It reads kubeconfigs; in a pod the service account is used.
    absent: ['@kubernetes/client-node'],
    served: [],
  },
}

/** Packages that exist for other runtimes than Node. */
const foreignPackage = /^bare-/

/** A second copy for `require`; all of ours and all that use them import. */
const secondCopies: readonly string[] = ['viem/_cjs', 'ox/_cjs', 'abitype/dist/cjs']

const unusedFolder = /^(?:test|tests|__tests__|docs?|examples?|benchmarks?|\.github)$/
/** Types, maps, texts, tests; native code for another C library, or for older Nodes than `napi` serves. */
const unusedFile =
  /\.(?:map|[cm]?tsx?|md|markdown|flow|tsbuildinfo)$|\.test\.[cm]?js$|\.musl\.node$|\.abi\d+\./

/** Whether a package is of use under Node. */
export function isNodePackage(name: string): boolean {
  return !foreignPackage.test(name)
}

/** Whether a file or folder of a package, by its path inside `node_modules`, is left out. */
export function isUnused(name: string, path: string): boolean {
  const [first = ''] = path.split('/')
  return (
    first === 'node_modules' ||
    unusedFolder.test(path) ||
    unusedFile.test(path) ||
    secondCopies.includes(`${name}/${path}`)
  )
}

/** The package that a bare specifier names: `@scope/name` or `name`; null for files and for Node's own. */
export function packageOf(specifier: string): string | null {
  if (/^(?:[./#]|node:)/.test(specifier)) return null
  return /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? null
}
