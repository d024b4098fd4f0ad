/** The project's own source files and what they import, read from their text. */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

interface Import {
  /** A path from the root (`src/errors.ts`) for our own files, else the package's name. */
  readonly target: string
  readonly own: boolean
  /** True where only types are imported. */
  readonly typeOnly: boolean
  /** Names as the other file exports them; `*` where all are taken, or at run time. */
  readonly names: readonly string[]
}

export interface SourceFile {
  /** Path from the root, with slashes. */
  readonly path: string
  readonly text: string
  readonly imports: readonly Import[]
}

export const root: string = fileURLToPath(new URL('../..', import.meta.url))

/** Every .ts file below these folders; AssemblyScript (`src/lenses`) is another language. */
export function readSourceFiles(...folders: readonly string[]): SourceFile[] {
  return folders.flatMap((folder) => listFiles(folder)).map(readSourceFile)
}

function listFiles(folder: string): string[] {
  let entries: string[]
  try {
    entries = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
  } catch {
    return []
  }
  return entries
    .map((name) => `${folder}/${name}`)
    .filter((path) => path.endsWith('.ts') && !path.startsWith('src/lenses/'))
    .toSorted()
}

function readSourceFile(path: string): SourceFile {
  const text = readFileSync(join(root, path), 'utf8')
  const tree = ts.createSourceFile(path, text, ts.ScriptTarget.ESNext, true)
  const imports: Import[] = []
  const visit = (node: ts.Node): void => {
    const found = importOf(node)
    if (found !== null) imports.push(resolveImport(path, found))
    ts.forEachChild(node, visit)
  }
  visit(tree)
  return { path, text, imports }
}

/** An import as it is written. */
type WrittenImport = Pick<Import, 'typeOnly' | 'names'> & { readonly specifier: string }

function importOf(node: ts.Node): WrittenImport | null {
  if (ts.isImportDeclaration(node) && ts.isStringLiteral(node.moduleSpecifier)) {
    const { importClause } = node
    const specifier = node.moduleSpecifier.text
    return { specifier, typeOnly: isTypeOnly(importClause), names: namesIn(importClause) }
  }
  if (
    ts.isExportDeclaration(node) &&
    node.moduleSpecifier &&
    ts.isStringLiteral(node.moduleSpecifier)
  ) {
    return { specifier: node.moduleSpecifier.text, typeOnly: node.isTypeOnly, names: ['*'] }
  }
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
    const { literal } = node.argument
    const names = [node.qualifier?.getText() ?? '*']
    return ts.isStringLiteral(literal) ? { specifier: literal.text, typeOnly: true, names } : null
  }
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
    const [argument] = node.arguments
    return argument && ts.isStringLiteral(argument)
      ? { specifier: argument.text, typeOnly: false, names: ['*'] }
      : null
  }
  return null
}

function namesIn(clause: ts.ImportClause | undefined): string[] {
  const bindings = clause?.namedBindings
  if (bindings === undefined || ts.isNamespaceImport(bindings)) return ['*']
  return bindings.elements.map(({ name, propertyName }) => (propertyName ?? name).text)
}

function isTypeOnly(clause: ts.ImportClause | undefined): boolean {
  if (clause === undefined) return false
  if (clause.phaseModifier === ts.SyntaxKind.TypeKeyword) return true
  const { name, namedBindings } = clause
  if (name !== undefined || namedBindings === undefined) return false
  return (
    ts.isNamedImports(namedBindings) &&
    namedBindings.elements.every((element) => element.isTypeOnly)
  )
}

function resolveImport(from: string, { specifier, typeOnly, names }: WrittenImport): Import {
  if (specifier.startsWith('.')) {
    const target = relative(root, join(root, dirname(from), specifier)).replaceAll('\\', '/')
    return { target, own: true, typeOnly, names }
  }
  const parts = specifier.split('/')
  const target = specifier.startsWith('@') ? parts.slice(0, 2).join('/') : (parts[0] ?? specifier)
  return { target: specifier.startsWith('node:') ? specifier : target, own: false, typeOnly, names }
}
