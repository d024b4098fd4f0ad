/** A View of a project as people and programs read it. */
import { relative } from 'node:path'
import { lensHash } from '../../views/lens-hash.ts'
import { printResult } from '../cli/print.ts'
import { styleOf } from '../cli/style.ts'
import type { Terminal } from '../cli/terminal.ts'
import type { ProjectLens, ProjectView } from '../project/project-view.ts'

interface PrintOptions {
  readonly json: boolean | undefined
  /** The project's, from which files of lenses are named. */
  readonly folder: string
  /** Lines below, and a field of the JSON. */
  readonly history?: { readonly text: string; readonly value: unknown }
}

/** Prints a View after a command on it. */
export function printView(terminal: Terminal, view: ProjectView, options: PrintOptions): void {
  const { json, folder, history } = options
  const value = {
    ...toJson(view, folder),
    ...(history !== undefined && { revisions: history.value }),
  }
  const text = viewText(terminal, view, folder)
  printResult(terminal, value, {
    json,
    text: history === undefined ? text : `${text}\n\n${history.text}`,
  })
}

function toJson({ name, revision, query, sdl, lenses }: ProjectView, folder: string): object {
  return {
    ...{ name, revision, query, sdl },
    lenses: lenses.map((lens) => ({
      label: lens.label,
      file: relative(folder, lens.path),
      hash: lensHash(lens.wasm),
      bytes: lens.wasm.length,
      args: lens.args,
    })),
  }
}

function viewText(terminal: Terminal, view: ProjectView, folder: string): string {
  const style = styleOf(terminal)
  const { name, revision, query, sdl, lenses } = view
  const part = (head: string, body: string | null): string =>
    `${style('bold', `${head}:`)}\n${indent(body ?? '(none)')}`
  return [
    `${style('bold', 'View:')} ${name}`,
    `${style('bold', 'Version:')} ${revision}`,
    part('Query', query),
    part('SDL', sdl),
    part(
      'Lenses',
      lenses.length === 0 ? null : lenses.map((lens) => lensText(lens, folder)).join('\n'),
    ),
  ].join('\n')
}

function lensText({ label, path, wasm, args }: ProjectLens, folder: string): string {
  const head = `- ${label} (${relative(folder, path)}, ${wasm.length} bytes, ${lensHash(wasm)})`
  const values = Object.entries(args ?? {}).map(([key, value]) => `    ${key}: ${value}`)
  return [head, ...(values.length === 0 ? ['    (no arguments)'] : values)].join('\n')
}

function indent(text: string): string {
  return text.replaceAll(/^/gm, '  ')
}
