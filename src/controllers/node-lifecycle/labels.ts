import type { Node } from '../../api/generated/types.ts'

/** Labels that have two names: the first is the one that counts. */
const doubled = [
  ['kubernetes.io/os', 'beta.kubernetes.io/os'],
  ['kubernetes.io/arch', 'beta.kubernetes.io/arch'],
] as const

/** Labels that are missing, or wrong, under their old name. */
export function labelsToAdd({ metadata: { labels } }: Node): Record<string, string> | undefined {
  const missing = doubled.filter(([name, oldName]) => labels?.[name] !== undefined && labels[oldName] !== labels[name])
  return missing.length > 0 ? Object.fromEntries(missing.map(([name, oldName]) => [oldName, labels![name]!])) : undefined
}
