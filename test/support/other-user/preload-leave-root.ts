/** Leaves root before the program is loaded, for programs that lie where everybody can read them. */
import { leaveRoot } from './leave-root.ts'

leaveRoot()
