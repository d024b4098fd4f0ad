/** The commands of the toolkit with what they are for; `viewmesh --help` lists them without loading them. */
export const toolkitCommands = {
  view: 'Build Views: their query, SDL and lenses, with versions; test and deploy them.',
  lens: 'Make lenses: new projects, builds, and checks of what a lens copes with.',
  types: 'Write TypeScript types and typed queries for Views.',
  register: 'Register a running Generator or Host on the registry chain.',
  wallet: 'Make, import and show the keys with which Views are registered.',
  doctor: 'Check what the toolkit needs on this machine.',
  completion: 'Print what makes bash, zsh or fish complete commands.',
} as const

/** Commands of `viewmesh` that are none of the toolkit, which completion offers as well. */
export const otherCommands: readonly string[] = ['generator', 'host', 'devnet', 'verify']

/** What scripts of shells run while somebody types; no help shows it. */
export const completeCommand = '__complete'
