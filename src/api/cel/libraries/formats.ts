import { dns1035Name, isLabelValue, isQualifiedName, labelName, subdomainName } from '../../validation/names.ts'
import { type Library, globalOverload, memberOverload } from '../declarations.ts'
import { characterCost, patternCost } from '../run/frame.ts'
import { parseDate, parseTimestamp } from '../time.ts'
import { listType, opaqueType, optionalType, stringType } from '../types.ts'
import { Opaque, Optional, type Value } from '../values.ts'
import { parseRequestUri } from './go-url.ts'

const formatType = opaqueType('kubernetes.NamedFormat')

type Validate = (text: string) => string[]

class FormatValue extends Opaque {
  readonly typeName = 'kubernetes.NamedFormat'
  readonly name: string
  readonly validate: Validate
  /** The length of the regular expression that the cost of a format check is based on. */
  readonly patternSize: number
  constructor(name: string, validate: Validate, patternSize: number) {
    super()
    this.name = name
    this.validate = validate
    this.patternSize = patternSize
  }
  equals(other: Opaque): boolean {
    return other instanceof FormatValue && other.name === this.name
  }
}

const uuid = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

const uriProblems: Validate = (text) => {
  const url = parseRequestUri(text)
  return typeof url === 'string' ? [url] : []
}
const unless =
  (isValid: (text: string) => boolean, problem: string): Validate =>
  (text) =>
    isValid(text) ? [] : [problem]

const formats: [string, FormatValue][] = [
  ['dns1123Label', new FormatValue('DNS1123Label', (text) => labelName(text, false), 30)],
  ['dns1123Subdomain', new FormatValue('DNS1123Subdomain', (text) => subdomainName(text, false), 60)],
  ['dns1035Label', new FormatValue('DNS1035Label', (text) => dns1035Name(text, false), 30)],
  ['qualifiedName', new FormatValue('QualifiedName', isQualifiedName, 60)],
  ['dns1123LabelPrefix', new FormatValue('DNS1123LabelPrefix', (text) => labelName(text, true), 30)],
  ['dns1123SubdomainPrefix', new FormatValue('DNS1123SubdomainPrefix', (text) => subdomainName(text, true), 60)],
  ['dns1035LabelPrefix', new FormatValue('DNS1035LabelPrefix', (text) => dns1035Name(text, true), 30)],
  ['labelValue', new FormatValue('LabelValue', isLabelValue, 40)],
  ['uri', new FormatValue('URI', uriProblems, 1000)],
  [
    'uuid',
    new FormatValue(
      'uuid',
      unless((text) => uuid.test(text), 'does not match the UUID format'),
      80,
    ),
  ],
  [
    'byte',
    new FormatValue(
      'byte',
      unless((text) => text !== '' && base64.test(text), 'invalid base64'),
      100,
    ),
  ],
  [
    'date',
    new FormatValue(
      'date',
      unless((text) => parseDate(text) !== undefined, 'invalid date'),
      100,
    ),
  ],
  [
    'datetime',
    new FormatValue(
      'datetime',
      unless((text) => parseTimestamp(text) !== undefined, 'invalid datetime'),
      100,
    ),
  ],
]
const byName = new Map(formats)

function validate(format: FormatValue, text: string): Optional {
  const problems = format.validate(text)
  return problems.length ? new Optional(problems) : Optional.none
}

const validateCost = (_: Value, format: FormatValue, text: string) =>
  Math.ceil((1 + text.length) * characterCost) * Math.ceil(format.patternSize * patternCost)

function named(name: string): Optional {
  const format = byName.get(name)
  return format ? new Optional(format) : Optional.none
}

/** Kubernetes' named formats. A check returns the errors of a string; none if it is valid. */
export const formatLibrary: Library = {
  name: 'format',
  functions: {
    'format.named': [
      globalOverload('format-named', [stringType], optionalType(formatType), (_, name: string) => named(name)),
    ],
    validate: [
      memberOverload(
        'format-validate',
        [formatType, stringType],
        optionalType(listType(stringType)),
        (_, format: FormatValue, text: string) => validate(format, text),
        validateCost,
      ),
    ],
    ...Object.fromEntries(
      formats.map(([name, format]) => [
        `format.${name}`,
        [globalOverload(`format.${name}`, [], formatType, () => format)],
      ]),
    ),
  },
}
