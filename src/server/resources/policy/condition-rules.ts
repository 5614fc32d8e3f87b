import type { Condition } from '../../../api/generated/types.ts'
import { type FieldError, duplicate, invalid, required, tooLong } from '../../../api/validation/field-error.ts'
import { byteLength, isQualifiedName, regexMessage } from '../../../api/validation/names.ts'
import type { Path } from '../../../api/validation/path.ts'
import { unsupported } from '../apps/workload-rules.ts'

const statuses = ['False', 'True', 'Unknown']
const maxReasonLength = 1024
const maxMessageLength = 32 * 1024

const reasonMessage = regexMessage(
  "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_'",
  '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?',
  'my_name',
  'MY_NAME',
  'MyName',
  'ReasonA,ReasonB',
  'ReasonA:ReasonB',
)

/** Validates a list of metav1 conditions with distinct types. */
export function validateConditions(conditions: readonly Condition[] | null | undefined, path: Path): FieldError[] {
  const seen = new Set<string>()
  return (conditions ?? []).flatMap((condition, i) => {
    const type = condition.type ?? ''
    const repeated = seen.has(type) ? [duplicate(path.index(i).child('type'), type)] : []
    seen.add(type)
    return [...repeated, ...validateCondition(condition, path.index(i))]
  })
}

function validateCondition(condition: Condition, path: Path): FieldError[] {
  const { type = '', status = '', observedGeneration = 0, lastTransitionTime, reason = '', message = '' } = condition
  const errors = isQualifiedName(type).map((problem) => invalid(path.child('type'), type, problem))
  if (!statuses.includes(status)) errors.push(unsupported(path.child('status'), status, statuses))
  if (observedGeneration < 0)
    errors.push(invalid(path.child('observedGeneration'), observedGeneration, 'must be greater than or equal to zero'))
  if (!lastTransitionTime) errors.push(required(path.child('lastTransitionTime')))
  if (reason === '') errors.push(required(path.child('reason')))
  else {
    if (!/^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/.test(reason))
      errors.push(invalid(path.child('reason'), reason, reasonMessage))
    if (byteLength(reason) > maxReasonLength) errors.push(tooLong(path.child('reason'), maxReasonLength))
  }
  if (byteLength(message) > maxMessageLength) errors.push(tooLong(path.child('message'), maxMessageLength))
  return errors
}
