import { type FieldError, invalid, required, tooLong } from './field-error.ts'
import { byteLength, isDns1123Label, isDns1123Subdomain } from './names.ts'
import type { Path } from './path.ts'

const maxDomainLength = 253
/** A domain, a slash, a namespace, a dot and a name. */
const maxLength = maxDomainLength + 1 + 253 + 63 + 1

/** Errors of the first part of a dotted text that breaks a rule. */
function validateLabels(text: string, rule: (label: string) => string[], path: Path): FieldError[] {
  const bad = text.split('.').find((label) => rule(label).length > 0)
  if (bad === undefined) return []
  return rule(bad).map((problem) => invalid(path, text, `validating label ${JSON.stringify(bad)}: ${problem}`))
}

/** Validates the name of a signer of certificates: `example.com/signer-name`. */
export function validateSignerName(name: string, path: Path): FieldError[] {
  if (name === '') return [required(path)]
  const segments = name.split('/')
  const [domain = '', rest = ''] = segments
  if (segments.length !== 2)
    return [invalid(path, name, "must be a fully qualified domain and path of the form 'example.com/signer-name'")]
  return [
    ...(byteLength(domain) > maxDomainLength ? [tooLong(path, maxDomainLength)] : []),
    ...validateLabels(domain, isDns1123Label, path),
    ...(domain.includes('.')
      ? []
      : [invalid(path, domain, 'should be a domain with at least two segments separated by dots')]),
    ...validateLabels(rest, isDns1123Subdomain, path),
    ...(byteLength(name) > maxLength ? [tooLong(path, maxLength)] : []),
  ]
}
