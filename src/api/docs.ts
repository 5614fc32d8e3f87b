import { docsText } from './generated/docs.ts'

let parsed: Record<string, Record<string, string>> | undefined

/** The description of a type (`field` left out) or of one of its fields, as OpenAPI has it; empty where there is none. */
export function describeField(type: string, field = ''): string {
  parsed ??= JSON.parse(docsText) as Record<string, Record<string, string>>
  return parsed[type]?.[field] ?? ''
}
