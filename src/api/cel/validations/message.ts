import type { Value } from '../values.ts'
import type { CompiledRule } from './rules.ts'

/** The message of a failed rule, or the reason why no further rule may run. */
type RuleMessage = { text: string; error?: undefined; cost: number } | { text?: undefined; error: string; cost: number }

const maxMessageBytes = 5 * 1024

/** The message of a rule without a valid messageExpression. */
function plainMessage({ rule }: CompiledRule): string {
  return rule.message ? rule.message.trim() : `failed rule: ${rule.rule.trim()}`
}

/**
 * The message of a failed rule. A messageExpression that fails, or does not return a single line of text, is ignored.
 */
export function messageOf(
  compiled: CompiledRule,
  variables: Record<string, Value>,
  budget: number,
  limit: number,
): RuleMessage {
  const { messageProgram, rule } = compiled
  if (!messageProgram) return { text: plainMessage(compiled), cost: 0 }
  const given = messageProgram.evaluate(variables, limit)
  if (given.cost > budget) {
    return {
      error:
        'messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run',
      cost: given.cost,
    }
  }
  if (given.error !== undefined && given.isCostExceeded) {
    const shown = JSON.stringify(rule.messageExpression)
    return {
      error: `no further validation rules will be run due to call cost exceeds limit for messageExpression: ${shown}`,
      cost: given.cost,
    }
  }
  const text = typeof given.value === 'string' ? given.value.trim() : ''
  const isUsable = text !== '' && Buffer.byteLength(text) <= maxMessageBytes && !text.includes('\n')
  return { text: isUsable ? text : plainMessage(compiled), cost: given.cost }
}
