/**
 * Which tests reach a source file, and how near they are to it: by what they import, and by the paths of modules that
 * they name as text, which is how programs and threads are started.
 */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import ts from 'typescript'
import type { SourceFile } from '../support/source-files.ts'

/** The modules that each module needs; all paths are from the root. */
export type ModuleGraph = ReadonlyMap<string, readonly string[]>

/** A test file that reaches a source file. */
export interface ReachingTest {
  readonly path: string
  /** 0 for the file's own test, 1 for its folder, 2 for its room, 3 for all others. */
  readonly ring: number
  /** Imports from the test to the file. */
  readonly steps: number
}

/** Reads what every module needs; those in JavaScript are read when one names them. */
export function readModuleGraph(root: string, files: readonly SourceFile[]): ModuleGraph {
  const graph = new Map<string, readonly string[]>()
  for (const { path, text, imports } of files) {
    const imported = imports.filter(({ own, typeOnly }) => own && !typeOnly)
    const named = namedModules(root, path, text)
    graph.set(path, [...new Set([...imported.map(({ target }) => target), ...named])])
  }
  const scripts = [...graph.values()].flat().filter((path) => path.endsWith('.js'))
  for (const path of new Set(scripts))
    graph.set(path, namedModules(root, path, readFileSync(join(root, path), 'utf8')))
  return graph
}

/** Modules whose path stands in a file as text, from the root or, also without its end, from the file's folder. */
function namedModules(root: string, path: string, text: string): string[] {
  const tree = ts.createSourceFile(path, text, ts.ScriptTarget.ESNext)
  const named = new Set<string>()
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isTypeNode(node)) return
    if (ts.isStringLiteralLike(node) && /^[\w./-]+$/.test(node.text)) {
      const beside = join(dirname(path), node.text)
      for (const candidate of [normalize(node.text), beside, `${beside}.ts`]) {
        const isOwn = /^(src|operator|test|images)\/.*\.[jt]s$/.test(candidate)
        if (isOwn && existsSync(join(root, candidate))) named.add(candidate)
      }
    }
    ts.forEachChild(node, visit)
  }
  visit(tree)
  return [...named]
}

/** Everything a module needs, itself included, with the number of steps to it. */
export function stepsFrom(graph: ModuleGraph, start: string): Map<string, number> {
  const steps = new Map([[start, 0]])
  for (const [path, step] of steps) {
    for (const next of graph.get(path) ?? []) if (!steps.has(next)) steps.set(next, step + 1)
  }
  return steps
}

/** The tests that reach each source file. */
export function createReach(
  graph: ModuleGraph,
  tests: readonly string[],
): (path: string) => ReachingTest[] {
  const reached = tests.map((test) => ({ test, steps: stepsFrom(graph, test) }))
  return (path) =>
    reached.flatMap(({ test, steps }) => {
      const count = steps.get(path)
      return count === undefined ? [] : [{ path: test, ring: ringOf(test, path), steps: count }]
    })
}

function ringOf(test: string, path: string): number {
  const mirrored = mirroredTest(path)
  if (test === mirrored) return 0
  if (dirname(test) === dirname(mirrored)) return 1
  return roomOf(test) === roomOf(mirrored) ? 2 : 3
}

/** `test/store/prune.test.ts` of `src/store/prune.ts`, `test/operator/api/x.test.ts` of `operator/api/x.ts`. */
export function mirroredTest(path: string): string {
  return `test/${path.replace(/^src\//, '').replace(/\.ts$/, '.test.ts')}`
}

function roomOf(test: string): string {
  const [, room = '', second = ''] = test.split('/')
  return room === 'operator' ? `operator/${second}` : room
}
