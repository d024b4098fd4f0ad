/** Whether a changed file still compiles, answered by one language service for the whole run. */
import { join } from 'node:path'
import ts from 'typescript'
import { applyMutant, type Mutant } from './place.ts'

/**
 * What is unused or out of reach after a change runs all the same, so that the compiler's word on that does not count.
 */
const lenient: ts.CompilerOptions = {
  noEmit: true,
  noUnusedLocals: false,
  noUnusedParameters: false,
  allowUnreachableCode: true,
}

/** Reads the settings of `tsconfig.json`; `texts` are the sources by their paths from the root. */
export function createCompiler(
  root: string,
  texts: ReadonlyMap<string, string>,
): (mutant: Mutant) => boolean {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile)
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root)
  const byName = new Map([...texts].map(([path, text]) => [join(root, path), text]))
  let changed = { name: '', text: '', version: 0 }
  const read = (name: string): string | undefined =>
    name === changed.name ? changed.text : (byName.get(name) ?? ts.sys.readFile(name))
  const service = ts.createLanguageService({
    fileExists: ts.sys.fileExists,
    readFile: read,
    directoryExists: ts.sys.directoryExists,
    realpath: (path) => ts.sys.realpath?.(path) ?? path,
    getCompilationSettings: () => ({ ...options, ...lenient }),
    getScriptFileNames: () => [...byName.keys()],
    getScriptVersion: (name) => (name === changed.name ? `${changed.version}` : '0'),
    getScriptSnapshot: (name) => {
      const text = read(name)
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text)
    },
    getCurrentDirectory: () => root,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
  })
  return (mutant) => {
    const name = join(root, mutant.path)
    const text = applyMutant(byName.get(name) ?? '', mutant)
    changed = { name, text, version: changed.version + 1 }
    if (service.getSyntacticDiagnostics(name).length > 0) return false
    return service.getSemanticDiagnostics(name).length === 0
  }
}
