import { jsonText } from '../../../api/json/index.ts'
import { kindNames } from '../../../api/kind-names.ts'
import { describeField } from '../../../api/schema/descriptions.ts'
import type { Overhead, RuntimeClass, Scheduling, Toleration } from '../../../api/generated/types.ts'
import { validateContainerRequirements } from '../../../api/kinds/containers/resource-requirements.ts'
import { validateTolerations } from '../../../api/kinds/placement/tolerations.ts'
import { validateImmutableField } from '../../../api/validation/field-checks.ts'
import { type FieldError, duplicate, invalid, required } from '../../../api/validation/field-error.ts'
import { isDns1123Label, isLabelKey, isLabelValue, subdomainName } from '../../../api/validation/names.ts'
import { Path } from '../../../api/validation/path.ts'
import { ageColumn, nameColumn } from '../../answers/columns.ts'
import { defineResource } from '../../registry/resource.ts'

const handlerPath = Path.of('handler')
const schedulingPath = Path.of('scheduling')

function validateHandler(handler: string): FieldError[] {
  return handler
    ? isDns1123Label(handler).map((problem) => invalid(handlerPath, handler, problem))
    : [required(handlerPath)]
}

/** As in Kubernetes, an overhead is validated as container limits, and errors have those paths. */
function validateOverhead(overhead: Overhead): FieldError[] {
  const errors: FieldError[] = []
  validateContainerRequirements(
    { ...(overhead.podFixed && { limits: overhead.podFixed }) },
    new Set(),
    Path.of('overhead'),
    errors,
  )
  return errors
}

function validateNodeSelector(selector: Record<string, string>, path: Path): FieldError[] {
  return Object.keys(selector)
    .sort()
    .flatMap((key) => [
      ...isLabelKey(key).map((problem) => invalid(path, key, problem)),
      ...isLabelValue(selector[key]!).map((problem) => invalid(path, selector[key], problem)),
    ])
}

const internalToleration = ({ key, operator, value, effect, tolerationSeconds }: Toleration) => ({
  Key: key ?? '',
  Operator: operator ?? '',
  Value: value ?? '',
  Effect: effect ?? '',
  TolerationSeconds: tolerationSeconds ?? null,
})

function validateScheduling(scheduling: Scheduling): FieldError[] {
  const tolerations = scheduling.tolerations ?? []
  const path = schedulingPath.child('tolerations')
  const errors = validateNodeSelector(scheduling.nodeSelector ?? {}, schedulingPath.child('nodeSelector'))
  validateTolerations(tolerations, path, errors)
  const seen = new Set<string>()
  for (const [i, toleration] of tolerations.entries()) {
    const { key = '', operator = '', value = '', effect = '', tolerationSeconds } = toleration
    const isRepeated = seen.size === seen.add(jsonText([key, operator, value, effect, tolerationSeconds])).size
    if (isRepeated) errors.push(duplicate(path.index(i), internalToleration(toleration)))
  }
  return errors
}

const validate = (rc: RuntimeClass): FieldError[] => [
  ...validateHandler(rc.handler),
  ...(rc.overhead ? validateOverhead(rc.overhead) : []),
  ...(rc.scheduling ? validateScheduling(rc.scheduling) : []),
]

export const runtimeclasses = defineResource<RuntimeClass>({
  ...kindNames.runtimeclasses,
  nameRule: subdomainName,
  allowUnconditionalUpdate: false,
  validate,
  validateUpdate: (rc, old) => [...validate(rc), ...validateImmutableField(rc.handler, old.handler, handlerPath)],
  columns: [
    nameColumn(),
    {
      name: 'Handler',
      type: 'string',
      description: () => describeField('RuntimeClass', 'handler'),
      cell: (rc) => rc.handler,
    },
    ageColumn(),
  ],
})
