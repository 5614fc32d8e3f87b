import { kindNames } from '../../../api/kind-names.ts'
import { semanticEqual } from '../../../api/deep-equal.ts'
import { describeField } from '../../../api/schema/descriptions.ts'
import type {
  ExemptPriorityLevelConfiguration,
  LimitResponse,
  LimitedPriorityLevelConfiguration,
  PriorityLevelConfiguration,
  PriorityLevelConfigurationSpec,
  QueuingConfiguration,
} from '../../../api/generated/types.ts'
import { type FieldError, forbidden, invalid, notSupported, required } from '../../../api/validation/field-error.ts'
import { subdomainName } from '../../../api/validation/names.ts'
import { Path } from '../../../api/validation/path.ts'
import { ageColumn, nameColumn } from '../../answers/columns.ts'
import { type Column, defineResource } from '../../registry/resource.ts'
import { keepAllButStatus } from '../kept-metadata.ts'
import { mandatoryLevels } from './bootstrap-objects.ts'
import { validateTypes } from './flowschemas.ts'

const specPath = Path.of('spec')
const maxQueues = 10_000_000
const maxHashBits = 60

/** The number of hash bits that dealing a hand from a deck uses. */
function entropyBits(deck: number, hand: number): number {
  let bits = 0
  for (let i = 0; i < hand && bits <= maxHashBits; i++) bits += Math.log2(deck - i)
  return Math.ceil(bits)
}

function validateQueues(queues: number, path: Path): FieldError[] {
  if (queues <= 0) return [invalid(path, queues, 'must be positive')]
  return queues > maxQueues ? [invalid(path, queues, `must not be greater than ${maxQueues}`)] : []
}

function validateHand({ handSize, queues }: QueuingConfiguration, path: Path): FieldError[] {
  if (handSize <= 0) return [invalid(path, handSize, 'must be positive')]
  if (handSize > queues) return [invalid(path, handSize, `should not be greater than queues (${queues})`)]
  if (entropyBits(queues, handSize) <= maxHashBits) return []
  const needed = `required entropy bits of deckSize ${queues} and handSize ${handSize}`
  return [invalid(path, handSize, `${needed} should not be greater than ${maxHashBits}`)]
}

const validateQueuing = (queuing: QueuingConfiguration, path: Path): FieldError[] => [
  ...(queuing.queueLengthLimit > 0
    ? []
    : [invalid(path.child('queueLengthLimit'), queuing.queueLengthLimit, 'must be positive')]),
  ...validateQueues(queuing.queues, path.child('queues')),
  ...validateHand(queuing, path.child('handSize')),
]

function validateResponse({ type, queuing }: LimitResponse, path: Path): FieldError[] {
  const queuingPath = path.child('queuing')
  switch (type) {
    case 'Reject':
      return queuing ? [forbidden(queuingPath, 'must be nil if limited.limitResponse.type is not Limited')] : []
    case 'Queue':
      if (queuing) return validateQueuing(queuing, queuingPath)
      return [required(queuingPath, 'must not be empty if limited.limitResponse.type is Limited')]
    default:
      return [notSupported(path.child('type'), type, ['Queue', 'Reject'])]
  }
}

type Shares = Pick<ExemptPriorityLevelConfiguration, 'nominalConcurrencyShares' | 'lendablePercent'>

function validateShares({ nominalConcurrencyShares: shares = 0 }: Shares, path: Path): FieldError[] {
  return shares < 0 ? [invalid(path.child('nominalConcurrencyShares'), shares, 'must be a non-negative integer')] : []
}

function validateLendable({ lendablePercent: percent = 0 }: Shares, path: Path): FieldError[] {
  const isPercentage = percent >= 0 && percent <= 100
  return isPercentage ? [] : [invalid(path.child('lendablePercent'), percent, 'must be between 0 and 100, inclusive')]
}

function validateLimited(limited: LimitedPriorityLevelConfiguration, path: Path): FieldError[] {
  const { borrowingLimitPercent: borrowing = 0 } = limited
  const borrowingPath = path.child('borrowingLimitPercent')
  return [
    ...validateShares(limited, path),
    ...validateResponse(limited.limitResponse, path.child('limitResponse')),
    ...validateLendable(limited, path),
    ...(borrowing < 0 ? [invalid(borrowingPath, borrowing, 'if specified, must be a non-negative integer')] : []),
  ]
}

function validateByType({ type, exempt, limited }: PriorityLevelConfigurationSpec): FieldError[] {
  const [exemptPath, limitedPath] = [specPath.child('exempt'), specPath.child('limited')]
  switch (type) {
    case 'Exempt':
      return [
        ...(limited ? [forbidden(limitedPath, 'must be nil if the type is not Limited')] : []),
        ...(exempt ? [...validateShares(exempt, exemptPath), ...validateLendable(exempt, exemptPath)] : []),
      ]
    case 'Limited':
      return [
        ...(exempt ? [forbidden(exemptPath, 'must be nil if the type is Limited')] : []),
        ...(limited
          ? validateLimited(limited, limitedPath)
          : [required(limitedPath, 'must not be empty when type is Limited')]),
      ]
    default:
      return [notSupported(specPath.child('type'), type, ['Exempt', 'Limited'])]
  }
}

/** Validates that mandatory levels are unchanged. The numbers of `exempt` may change. */
function validateFixed(spec: PriorityLevelConfigurationSpec, name: string): FieldError[] {
  const mandatory = mandatoryLevels.find((level) => level.metadata.name === name)
  if (!mandatory) return []
  if (name !== 'exempt') {
    return semanticEqual(spec, mandatory.spec)
      ? []
      : [invalid(specPath, spec, `spec of '${name}' must equal the fixed value`)]
  }
  const { exempt: _, ...rest } = spec
  const isFixed = semanticEqual(rest, { type: 'Exempt' })
  const message = `spec of '${name}' except the 'spec.exempt' field must equal the fixed value`
  return isFixed ? [] : [invalid(specPath, spec, message)]
}

function validate({ metadata, spec, status }: PriorityLevelConfiguration): FieldError[] {
  const name = metadata.name ?? ''
  const isMisnamed = (name === 'exempt') !== (spec.type === 'Exempt')
  const message = "type must be 'Exempt' if and only if name is 'exempt'"
  return [
    ...(isMisnamed ? [invalid(specPath.child('type'), spec.type, message)] : []),
    ...validateByType(spec),
    ...validateFixed(spec, name),
    ...validateTypes(status.conditions),
  ]
}

function setDefaults({ exempt, limited }: PriorityLevelConfigurationSpec): void {
  if (exempt) {
    exempt.nominalConcurrencyShares ??= 0
    exempt.lendablePercent ??= 0
  }
  if (!limited) return
  limited.nominalConcurrencyShares ??= 30
  limited.lendablePercent ??= 0
  const { queuing } = limited.limitResponse
  if (!queuing) return
  queuing.handSize ||= 8
  queuing.queues ||= 64
  queuing.queueLengthLimit ||= 50
}

type Amount = (limited: LimitedPriorityLevelConfiguration | undefined) => number | undefined

/** A column with a number of a limited level. */
const amount = (name: string, type: string, field: string, value: Amount): Column<PriorityLevelConfiguration> => ({
  name,
  type: 'string',
  description: () => describeField(type, field),
  cell: ({ spec }) => value(spec.limited) ?? '<none>',
})

const queuingAmount = (name: string, field: 'queues' | 'handSize' | 'queueLengthLimit') =>
  amount(name, 'QueuingConfiguration', field, (limited) => limited?.limitResponse.queuing?.[field])

export const prioritylevelconfigurations = defineResource<PriorityLevelConfiguration>({
  ...kindNames.prioritylevelconfigurations,
  nameRule: subdomainName,
  generation: true,
  allowUnconditionalUpdate: false,
  defaults: ({ spec }) => setDefaults(spec),
  validate,
  validateUpdate: validate,
  status: { prepare: keepAllButStatus, validate: ({ status }) => validateTypes(status.conditions) },
  columns: [
    nameColumn(),
    {
      name: 'Type',
      type: 'string',
      description: () => describeField('PriorityLevelConfigurationSpec', 'type'),
      cell: ({ spec }) => spec.type,
    },
    amount(
      'NominalConcurrencyShares',
      'LimitedPriorityLevelConfiguration',
      'nominalConcurrencyShares',
      (limited) => limited?.nominalConcurrencyShares,
    ),
    queuingAmount('Queues', 'queues'),
    queuingAmount('HandSize', 'handSize'),
    queuingAmount('QueueLengthLimit', 'queueLengthLimit'),
    ageColumn(),
  ],
})
