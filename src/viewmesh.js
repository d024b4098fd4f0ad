#!/usr/bin/env node
/** The `viewmesh` command. */
import { launch } from './launch.js'

await launch('src')
