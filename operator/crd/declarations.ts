/** Reads the interfaces and type aliases of the API from its source files. */
import { readdirSync, readFileSync } from 'node:fs'
import ts from 'typescript'
import { invariant } from '../../src/errors.ts'
import { type DocComment, parseDocComment } from './doc-comment.ts'

/** An interface or a type alias with its comment. */
interface Declaration {
  readonly node: ts.InterfaceDeclaration | ts.TypeAliasDeclaration
  readonly comment: DocComment
}

/** Every declaration by its name; names are unique in the whole API. */
export type Declarations = ReadonlyMap<string, Declaration>

const folder = new URL('../api/', import.meta.url)
const rootFile = new URL('../api.ts', import.meta.url)

/** Reads `operator/api.ts` and the files beside it. */
export function readDeclarations(): Declarations {
  const files = readdirSync(folder).map((name) => new URL(name, folder))
  const declarations = new Map<string, Declaration>()
  for (const file of [rootFile, ...files]) {
    for (const [name, declaration] of readFile(file)) {
      invariant(!declarations.has(name), `${name} is declared twice`)
      declarations.set(name, declaration)
    }
  }
  return declarations
}

/** The comment right before a node; empty when there is none. */
export function commentOf(node: ts.Node): DocComment {
  const text = node.getSourceFile().text
  const ranges = ts.getLeadingCommentRanges(text, node.getFullStart()) ?? []
  const last = ranges.findLast(({ pos, end }) => text.slice(pos, end).startsWith('/**'))
  return last === undefined
    ? { text: '', tags: [] }
    : parseDocComment(text.slice(last.pos, last.end))
}

function readFile(file: URL): [string, Declaration][] {
  const tree = ts.createSourceFile(
    file.pathname,
    readFileSync(file, 'utf8'),
    ts.ScriptTarget.ESNext,
    true,
  )
  return tree.statements.flatMap((node): [string, Declaration][] =>
    ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)
      ? [[node.name.text, { node, comment: commentOf(node) }]]
      : [],
  )
}
