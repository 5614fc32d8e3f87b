import { docsText } from '../generated/docs.ts'

let parsed: Record<string, Record<string, string>> | undefined

/** The OpenAPI description of a type (without `field`) or of one of its fields; empty if there is none. */
export function describeField(type: string, field = ''): string {
  parsed ??= JSON.parse(docsText) as Record<string, Record<string, string>>
  return parsed[type]?.[field] ?? ''
}
