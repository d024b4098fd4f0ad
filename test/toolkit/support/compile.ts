/** Compiles files that are in memory, as strictly as an application may. */
import { dirname, join } from 'node:path'
import ts from 'typescript'

const options: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  lib: ['lib.es2022.d.ts'],
  types: [],
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noPropertyAccessFromIndexSignature: true,
  noUnusedLocals: true,
  noUnusedParameters: true,
  verbatimModuleSyntax: true,
  isolatedModules: true,
  isolatedDeclarations: true,
  declaration: true,
  erasableSyntaxOnly: true,
  allowImportingTsExtensions: true,
  noEmit: true,
}

const folder = '/memory'
const libraries = new Map<string, ts.SourceFile>()

function programOf(files: Readonly<Record<string, string>>): ts.Program {
  const paths = Object.keys(files).map((name) => join(folder, name))
  const text = (path: string): string | undefined =>
    dirname(path) === folder ? files[path.slice(folder.length + 1)] : ts.sys.readFile(path)
  const host = ts.createCompilerHost(options)
  return ts.createProgram(paths, options, {
    ...host,
    fileExists: (path) => text(path) !== undefined,
    readFile: text,
    directoryExists: () => true,
    getCurrentDirectory: () => folder,
    getSourceFile(path, target) {
      const known = libraries.get(path)
      if (known !== undefined) return known
      const file = ts.createSourceFile(path, text(path) ?? '', target)
      if (dirname(path) !== folder) libraries.set(path, file)
      return file
    },
  })
}

/** What the compiler says, as in `use.ts(3): ...`; empty where all is right. */
export function compileErrors(files: Readonly<Record<string, string>>): readonly string[] {
  const program = programOf(files)
  return ts.getPreEmitDiagnostics(program).map(({ file, start = 0, messageText }) => {
    const message = ts.flattenDiagnosticMessageText(messageText, ' ')
    if (file === undefined) return message
    const { line } = file.getLineAndCharacterOfPosition(start)
    return `${file.fileName.slice(folder.length + 1)}(${line + 1}): ${message}`
  })
}

/** The properties of a type of a module, with those of the objects that each may be. */
export function typeProperties(module: string, type: string): Record<string, readonly string[]> {
  const program = programOf({ 'views.ts': module })
  const checker = program.getTypeChecker()
  const declared = program
    .getSourceFile(join(folder, 'views.ts'))
    ?.statements.find((one) => ts.isTypeAliasDeclaration(one) && one.name.text === type)
  if (declared === undefined || !ts.isTypeAliasDeclaration(declared))
    throw new Error(`there is no type ${type}`)
  const isObject = ({ flags }: ts.Type): boolean =>
    (flags & (ts.TypeFlags.Object | ts.TypeFlags.Intersection)) !== 0
  const namesIn = (one: ts.Type): string[] => {
    if (one.isUnion()) return one.types.flatMap(namesIn)
    const isOurs = isObject(one) && !checker.isArrayType(one)
    return isOurs ? one.getProperties().map(({ name }) => name) : []
  }
  const found = checker.getTypeAtLocation(declared).getProperties()
  return Object.fromEntries(
    found.map((one) => [one.name, namesIn(checker.getTypeOfSymbol(one)).toSorted()]),
  )
}
