import assert from 'node:assert/strict'
import { readdirSync, statSync } from 'node:fs'
import { join, posix, relative } from 'node:path'
import { test } from 'node:test'
import { repository } from '../support/repository.ts'
import { blocksOf, readPage } from './support/page.ts'

const files = readdirSync(repository)
  .filter((name) => !['node_modules', '.git', 'dist'].includes(name))
  .flatMap(filesBelow)
const pages = files.filter((path) => path.endsWith('.md') && !path.startsWith('test/fixtures/'))
const docs = pages.filter((path) => path.startsWith('docs/'))
const own = ['README.md', 'CONTRIBUTING.md', ...docs]

function filesBelow(path: string): string[] {
  const full = `${repository}/${path}`
  if (statSync(full).isFile()) return [path]
  const found = readdirSync(full, { recursive: true, withFileTypes: true })
  return found
    .filter((entry) => entry.isFile())
    .map((entry) => relative(repository, join(entry.parentPath, entry.name)))
}

/** The text without its fenced blocks, where brackets are no links. */
function proseOf(path: string): string {
  return readPage(path).replaceAll(/^ *```[\s\S]*?^ *```$/gm, '')
}

interface Link {
  readonly from: string
  readonly path: string
  readonly anchor: string
}

/** Links to files of the repository, with their paths from its root. */
function linksOf(from: string): Link[] {
  const targets = [...proseOf(from).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target)
  return targets
    .filter((target) => !/^[a-z+]+:/.test(target))
    .map((target) => {
      const [file = '', anchor = ''] = target.split('#')
      const path = file === '' ? from : posix.join(posix.dirname(from), file)
      return { from, path: path.replace(/\/$/, ''), anchor }
    })
}

/** Anchors of a page's headings, as GitHub makes them; the second of the same text ends in -1. */
function anchorsOf(path: string): Set<string> {
  const anchors = new Set<string>()
  for (const [, heading = ''] of proseOf(path).matchAll(/^#{1,6} (.+)$/gm)) {
    const text = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase()
    const plain = text.replaceAll(/[^\p{L}\p{N} _-]/gu, '').replaceAll(' ', '-')
    let anchor = plain
    for (let count = 1; anchors.has(anchor); count++) anchor = `${plain}-${count}`
    anchors.add(anchor)
  }
  return anchors
}

/** Whether a file or a folder of the repository has this path. */
function exists(path: string): boolean {
  return files.some((file) => file === path || file.startsWith(`${path}/`))
}

test('every link between pages leads to a file and a heading that exist', () => {
  const broken = pages.flatMap(linksOf).filter(({ path, anchor }) => {
    if (!exists(path)) return true
    return anchor !== '' && !(path.endsWith('.md') && anchorsOf(path).has(anchor))
  })
  assert.deepEqual(
    broken.map(({ from, path, anchor }) => `${from}: ${path}#${anchor}`),
    [],
  )
})

test('every page of docs is reached from README by links', () => {
  const reached = new Set(['README.md'])
  for (const page of reached) {
    for (const { path } of linksOf(page)) if (pages.includes(path)) reached.add(path)
  }
  assert.deepEqual(
    docs.filter((page) => !reached.has(page)),
    [],
  )
})

test('every page that another text names exists', () => {
  const isText = (path: string): boolean =>
    /\.(md|ya?ml|ts|tpl|txt|json)$|^images\//.test(path) && !own.includes(path)
  const texts = files.filter(isText)
  const missing = texts.flatMap((path) =>
    [...readPage(path).matchAll(/\bdocs\/[a-z/-]+\.md(?:#([a-z0-9-]+))?/g)]
      .filter(([name]) => !isNamedRightly(name))
      .map(([name]) => `${path}: ${name}`),
  )
  assert.deepEqual(missing, [])
})

function isNamedRightly(name: string): boolean {
  const [path = '', anchor] = name.split('#')
  return docs.includes(path) && (anchor === undefined || anchorsOf(path).has(anchor))
}

/** Files wherever they are named, folders in backticks. */
const pathPatterns: readonly RegExp[] = [
  /(?<![\w./-])((?:src|test|operator|images|charts)\/[\w./-]+\.(?:ts|yaml|tpl|json))\b/g,
  /`((?:src|test|operator|charts|images|crds|\.ci)\/[\w./-]*)`/g,
]

test('every path of the repository that a page names exists', () => {
  const missing = own.flatMap((page) =>
    pathPatterns
      .flatMap((pattern) => [...readPage(page).matchAll(pattern)])
      .map(([, path = '']) => path.replace(/\/$/, ''))
      .filter((path) => !exists(path))
      .map((path) => `${page}: ${path}`),
  )
  assert.deepEqual(missing, [])
})

test('every npm script that a page names exists', () => {
  const { scripts } = JSON.parse(readPage('package.json'))
  const named = own.flatMap((page) =>
    [...readPage(page).matchAll(/npm (?:run ([a-z:]+)|(start|test)\b)/g)].map(
      ([, script, short]) => `${script ?? short}`,
    ),
  )
  assert.deepEqual(
    named.filter((name) => !(name in scripts)),
    [],
  )
})

test('every page begins with its title and has no heading twice', () => {
  for (const page of own) {
    assert.match(readPage(page), /^# \S/, page)
    const headings = proseOf(page).match(/^#{1,6} .+$/gm) ?? []
    assert.equal(new Set(headings).size, headings.length, page)
  }
})

test('every block says which test runs it, or why none does', () => {
  const faults = own.flatMap((page) =>
    blocksOf(page).flatMap(({ language, marker, line }) => {
      const fault = language === '' ? 'no language' : faultOf(page, marker)
      return fault === null ? [] : [`${page}:${line}: ${fault}`]
    }),
  )
  assert.deepEqual(faults, [])
})

/** A test that is named has to read the page, else it would run a copy that ages. */
function faultOf(page: string, marker: string | undefined): string | null {
  if (marker === undefined) return 'no marker'
  if (marker.startsWith('not run: ')) return null
  const tests = marker.slice('run: '.length).split(', ')
  const missing = tests.filter((file) => !files.includes(file))
  if (missing.length > 0) return `${missing.join(', ')} does not exist`
  const blind = tests.filter((file) => !readPage(file).includes(page))
  return blind.length > 0 ? `${blind.join(', ')} does not read this page` : null
}
