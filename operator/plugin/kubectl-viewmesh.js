#!/usr/bin/env node
/** `kubectl viewmesh`: kubectl finds this file by its name once it is on PATH. */
import { launch } from '../../src/launch.js'

await launch('operator/plugin')
