/** docs/app.md with the addresses and identities of a mesh in the place of those that it shows. */
import type { TransferMesh } from '../../support/application/transfer-mesh.ts'
import { blocksOf, readPage } from './page.ts'

const path = 'docs/app.md'

export interface AppPage {
  /** Texts of the blocks in a language, in their order. */
  blocks(language: string): readonly string[]
  /** Text of what is shown below the `index`th block with this text in it. */
  below(text: string, index?: number): string
  /** A text of the mesh as the page would show it. */
  shown(text: string): string
}

export function openAppPage(mesh: TransferMesh): AppPage {
  const pairs = pairsOf(readPage(path), mesh)
  const here = (text: string): string =>
    pairs.reduce((changed, [named, real]) => changed.replaceAll(named, real), text)
  const all = blocksOf(path)
  return {
    blocks: (language) =>
      all.filter((block) => block.language === language).map(({ text }) => here(text)),
    below: (text, index = 0) => {
      const places = [...all.keys()].filter((at) => all[at]?.text.includes(text))
      return all[(places[index] ?? -2) + 1]?.text ?? ''
    },
    shown: (text) =>
      pairs.reduce((changed, [named, real]) => changed.replaceAll(real, named), text),
  }
}

/** What the page names, each with what it is here. */
function pairsOf(page: string, mesh: TransferMesh): readonly (readonly [string, string])[] {
  const named = (pattern: RegExp): readonly string[] => [
    ...new Set(Array.from(page.matchAll(pattern), ([, text = '']) => text)),
  ]
  const [peer = ''] = named(/'(\/ip4\/[^'.]+(?:\.\d+)*\/[^'.]+)'/g)
  const [host = ''] = named(/"identity": "([0-9a-f]{66})"/g)
  const signers = named(/'([0-9a-f]{66})'/g)
  return [
    [peer, mesh.peer],
    [host, mesh.host],
    ...mesh.signers.map((signer, index) => [signers[index] ?? '', signer] as const),
    ['http://127.0.0.1:9181', mesh.apiUrl],
    ['http://127.0.0.1:8080', mesh.healthUrl],
  ]
}
