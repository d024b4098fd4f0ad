/**
 * Which pod template a StatefulSet gets. What was applied last is kept in annotations of the
 * StatefulSet; while nothing is asked that the template is built from, it is applied again as it was,
 * so that a newer operator, which might build it differently, replaces no pod and still undoes what
 * others changed.
 */
import type { V1PodTemplateSpec } from '@kubernetes/client-node'
import { records } from '../../api/annotations.ts'
import { canonicalJson, shortHash } from '../names/canonical-json.ts'
import { parseFields } from '../names/unchecked-json.ts'
import { templateChanges } from './template-changes.ts'

/** A pod template as it was applied. */
export interface TemplateRecord {
  /** Hash of what it was built from (`template-inputs.ts`). */
  readonly inputs: string
  readonly template: V1PodTemplateSpec
}

/** The template to apply, and what becomes of the difference to this operator's own. */
export interface TemplateChoice extends TemplateRecord {
  /** Where this operator would build another one and waits with it: fields that differ (`template-changes.ts`). */
  readonly updateAvailable: readonly string[] | null
}

/** Chooses between the template this operator builds and the one that was applied last. */
export function chooseTemplate(
  built: TemplateRecord,
  recorded: TemplateRecord | null,
  rollout: 'OnSpecChange' | 'Auto',
): TemplateChoice {
  if (recorded === null || recorded.inputs !== built.inputs || rollout === 'Auto') {
    return { ...built, updateAvailable: null }
  }
  const isEqual = canonicalJson(recorded.template) === canonicalJson(built.template)
  const updateAvailable = isEqual ? null : templateChanges(recorded.template, built.template)
  return { ...recorded, updateAvailable }
}

/** The annotations of a StatefulSet that has this template. */
export function recordAnnotations({ inputs, template }: TemplateRecord): Record<string, string> {
  const text = canonicalJson(template)
  return { [records.templateInputs]: `${inputs}.${shortHash(text)}`, [records.podTemplate]: text }
}

/** What the annotations of a StatefulSet record; null where they are missing or were edited. */
export function readTemplateRecord(
  annotations: Readonly<Record<string, string>> | undefined,
): TemplateRecord | null {
  const text = annotations?.[records.podTemplate] ?? ''
  const [inputs = '', digest] = (annotations?.[records.templateInputs] ?? '').split('.')
  if (digest !== shortHash(text)) return null
  // Who may edit the StatefulSet may have made them agree on something else.
  const template = parseFields(text)
  return Object.keys(template).length > 0 ? { inputs, template } : null
}
