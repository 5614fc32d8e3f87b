import type { Container, ContainerRestartRule } from '../../generated/types.ts'
import { type FieldError, duplicate, notSupported, required, tooMany } from '../../validation/field-error.ts'
import type { Path } from '../../validation/path.ts'

const policies = ['Always', 'Never', 'OnFailure']
const actions = ['Restart', 'RestartAllContainers']
const operators = ['In', 'NotIn']
const maxRules = 20
const maxExitCodes = 255

type Restarting = Pick<Container, 'restartPolicy' | 'restartPolicyRules'>

function validateRule(rule: ContainerRestartRule, path: Path, errors: FieldError[]): void {
  if (!actions.includes(rule.action)) errors.push(notSupported(path.child('action'), rule.action ?? '', actions))
  if (!rule.exitCodes) {
    errors.push(required(path.child('exitCodes'), 'must be specified'))
    return
  }
  const { operator, values = [] } = rule.exitCodes
  if (!operators.includes(operator))
    errors.push(notSupported(path.child('exitCodes', 'operator'), operator ?? '', operators))
  const at = path.child('exitCodes', 'values')
  if (values.length === 0) errors.push(required(at, 'must be specified'))
  if (values.length > maxExitCodes) errors.push(tooMany(at, values.length, maxExitCodes))
  const seen = new Set<number>()
  for (const [i, value] of values.entries()) {
    if (seen.has(value)) errors.push(duplicate(at.index(i), value))
    seen.add(value)
  }
}

/** Validates a container's own restart policy and its restart rules. */
export function validateContainerRestart(container: Restarting, path: Path, errors: FieldError[]): void {
  const rules = container.restartPolicyRules ?? []
  if (container.restartPolicy === undefined) {
    if (rules.length)
      errors.push(required(path.child('restartPolicy'), 'must specify restartPolicy when restart rules are used'))
    return
  }
  if (!policies.includes(container.restartPolicy)) {
    errors.push(notSupported(path.child('restartPolicy'), container.restartPolicy, policies))
  }
  if (rules.length > maxRules) errors.push(tooMany(path.child('restartPolicyRules'), rules.length, maxRules))
  for (let i = 0; i < rules.length; i++) validateRule(rules[i]!, path.child('restartPolicyRules').index(i), errors)
}

/**
 * True if a container that ended with this exit code is restarted: by its own rules and policy, otherwise by the pod's
 * policy.
 */
export function shouldRestart(
  container: Restarting | undefined,
  podPolicy: string | undefined,
  exitCode: number,
): boolean {
  for (const rule of container?.restartPolicyRules ?? []) {
    const listed = rule.exitCodes?.values?.includes(exitCode) ?? false
    if (rule.exitCodes && listed === (rule.exitCodes.operator === 'In')) return true
  }
  const policy = container?.restartPolicy ?? podPolicy
  return policy === 'Always' || (policy === 'OnFailure' && exitCode !== 0)
}
