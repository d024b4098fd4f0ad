/** Where an empty store starts: the setting, and the height that follows from it. */
import { kind, type SettingKind, scalarText } from '../../service/settings/setting-kinds.ts'

/** `behind` counts back from the head at the first start. */
export type StartHeight =
  | { readonly kind: 'at'; readonly height: number }
  | { readonly kind: 'behind'; readonly blocks: number }

/** `latest`, a height, or `-N`. */
export const startHeight: SettingKind<StartHeight> = kind(
  'latest, a height such as 19000000, or -N for N blocks behind the head',
  (value) => parseStartHeight(scalarText(value) ?? ''),
)

function parseStartHeight(text: string): StartHeight | undefined {
  if (text === 'latest') return { kind: 'behind', blocks: 0 }
  if (!/^-?\d{1,15}$/.test(text)) return undefined
  const number = Number(text)
  return text.startsWith('-') ? { kind: 'behind', blocks: -number } : { kind: 'at', height: number }
}

/** The first height to read, given the node's head. */
export function firstHeight(start: StartHeight, head: number): number {
  return start.kind === 'at' ? start.height : Math.max(0, head - start.blocks)
}
