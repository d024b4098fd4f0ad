/** The commands of the toolkit with what they are for; `viewmesh --help` lists them without loading them. */
export const toolkitCommands = {
  view: 'Build Views: their query, SDL and lenses, with versions; test and deploy them.',
  lens: 'Make lenses: new projects, builds, and what a lens bears.',
  wallet: 'Make, import and show the keys with which Views are registered.',
} as const
