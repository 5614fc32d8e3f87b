import { badRequest } from '../../../api/errors.ts'
import type { DaemonSet } from '../../../api/generated/types.ts'
import { type Int64, parseInt64 } from '../../../api/int64.ts'
import { templateGenerationAnnotation } from '../../../api/kinds/template-generation.ts'

/** Refuses an annotation that is no number, as part of reading the object. */
export function checkTemplateGeneration(obj: DaemonSet): void {
  const text = obj.metadata.annotations?.[templateGenerationAnnotation]
  if (text === undefined) return
  const problem = parseProblem(text)
  if (problem) {
    throw badRequest(`DaemonSet in version "v1" cannot be handled as a DaemonSet: strconv.ParseInt: parsing ${JSON.stringify(text)}: ${problem}`)
  }
}

function parseProblem(text: string): string | undefined {
  if (!/^[+-]?[0-9]+$/.test(text)) return 'invalid syntax'
  return parseInt64(text) === undefined ? 'value out of range' : undefined
}

export const templateGenerationOf = (obj: DaemonSet): Int64 =>
  parseInt64(obj.metadata.annotations?.[templateGenerationAnnotation] ?? '') ?? 0

export function setTemplateGeneration(obj: DaemonSet, generation: Int64): void {
  obj.metadata.annotations = { ...obj.metadata.annotations, [templateGenerationAnnotation]: String(generation) }
}
