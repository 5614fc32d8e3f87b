import { kindNames } from '../../../api/kind-names.ts'
import { describeField } from '../../../api/schema/descriptions.ts'
import type { APIService, APIServiceCondition } from '../../../api/generated/types.ts'
import { timestamp } from '../../../api/object.ts'
import { notSupportedInOrder } from '../../../api/validation/field-checks.ts'
import { type FieldError, invalid, required } from '../../../api/validation/field-error.ts'
import { isDns1035Label, isDns1123Subdomain, pathSegmentName } from '../../../api/validation/names.ts'
import { Path } from '../../../api/validation/path.ts'
import { ageColumn, nameColumn } from '../../answers/columns.ts'
import { type Column, defineResource } from '../../registry/resource.ts'
import { keepAllButStatus } from '../kept-metadata.ts'

const specPath = Path.of('spec')
const statuses = ['True', 'False', 'Unknown']

/** The initial conditions: a local version is available, a remote one must be probed first. */
function availability({ spec }: APIService, now: number): APIServiceCondition[] {
  if (spec.service) return []
  const said = { status: 'True', reason: 'Local', message: 'Local APIServices are always available' }
  return [{ type: 'Available', lastTransitionTime: timestamp(now), ...said }]
}

function validateName({ metadata: { name = '' }, spec }: APIService): FieldError[] {
  const wanted = `${spec.version ?? ''}.${spec.group ?? ''}`
  // An invalid path segment has its own error.
  if (name === wanted || pathSegmentName(name, false).length > 0) return []
  return [
    invalid(Path.of('metadata', 'name'), name, `must be \`spec.version+"."+spec.group\`: ${JSON.stringify(wanted)}`),
  ]
}

function validateGroup(group: string, version: string): FieldError[] {
  const path = specPath.child('group')
  if (group !== '') return isDns1123Subdomain(group).map((problem) => invalid(path, group, problem))
  return version === 'v1' ? [] : [required(path, 'only v1 may have an empty group and it better be legacy kube')]
}

function validatePriority(value: number, max: number, name: string): FieldError[] {
  const isFine = value > 0 && value <= max
  return isFine ? [] : [invalid(specPath.child(name), value, `must be positive and less than ${max}`)]
}

function validateTrust({ spec }: APIService): FieldError[] {
  const { service, caBundle = '', insecureSkipTLSVerify: isInsecure = false } = spec
  const insecurePath = specPath.child('insecureSkipTLSVerify')
  const bundlePath = specPath.child('caBundle')
  if (service) {
    return [
      ...(service.namespace ? [] : [required(specPath.child('service', 'namespace'))]),
      ...(service.name ? [] : [required(specPath.child('service', 'name'))]),
      ...(isInsecure && caBundle ? [invalid(insecurePath, true, 'may not be true if caBundle is present')] : []),
    ]
  }
  const bytes = `${Buffer.from(caBundle, 'base64').length} bytes`
  return [
    ...(caBundle ? [invalid(bundlePath, bytes, 'local APIServices may not have a caBundle')] : []),
    ...(isInsecure ? [invalid(insecurePath, true, 'local APIServices may not have insecureSkipTLSVerify')] : []),
  ]
}

function validate(service: APIService): FieldError[] {
  const { group = '', version = '', groupPriorityMinimum, versionPriority } = service.spec
  return [
    ...validateName(service),
    ...validateGroup(group, version),
    ...isDns1035Label(version).map((problem) => invalid(specPath.child('version'), version, problem)),
    ...validatePriority(groupPriorityMinimum, 20_000, 'groupPriorityMinimum'),
    ...validatePriority(versionPriority, 1000, 'versionPriority'),
    ...validateTrust(service),
  ]
}

const validateStatus = ({ status }: APIService): FieldError[] =>
  (status.conditions ?? []).flatMap((condition, i) => {
    const path = Path.of('status', 'conditions').index(i).child('status')
    return statuses.includes(condition.status) ? [] : [notSupportedInOrder(path, condition.status, statuses)]
  })

/** Example: `True` or `False (ServiceNotFound)`. */
function availableText({ status }: APIService): string {
  const condition = status.conditions?.find((c) => c.type === 'Available')
  if (!condition) return 'Unknown'
  return condition.status === 'True' ? 'True' : `${condition.status} (${condition.reason ?? ''})`
}

const columns: Column<APIService>[] = [
  nameColumn(),
  {
    name: 'Service',
    type: 'string',
    description: 'The reference to the service that hosts this API endpoint.',
    cell: ({ spec: { service } }) => (service ? `${service.namespace}/${service.name}` : 'Local'),
  },
  { name: 'Available', type: 'string', description: 'Whether this service is available.', cell: availableText },
  { ...ageColumn(), description: () => describeField('ObjectMeta', 'creationTimestamp') },
]

export const apiservices = defineResource<APIService>({
  ...kindNames.apiservices,
  nameRule: pathSegmentName,
  allowUnconditionalUpdate: false,
  defaults({ spec }) {
    if (spec.service) spec.service.port ??= 443
  },
  prepareForCreate(service, { now }) {
    const conditions = availability(service, now)
    service.status = conditions.length ? { conditions } : {}
  },
  prepareForUpdate(service, old, { now }) {
    // A switch between local and remote resets availability.
    if (Boolean(service.spec.service) === Boolean(old.spec.service)) return
    const others = (old.status.conditions ?? []).filter((c) => c.type !== 'Available')
    service.status = { conditions: [...others, ...availability(service, now)] }
  },
  validate,
  validateUpdate: validate,
  status: { prepare: keepAllButStatus, validate: validateStatus },
  columns,
})
