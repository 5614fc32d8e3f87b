import type { Value } from '../values.ts'
import type { CompiledRule } from './rules.ts'

/** The text of a rule that does not hold, or why no further rule may run. */
type RuleMessage = { text: string; error?: undefined; cost: number } | { text?: undefined; error: string; cost: number }

const maxMessageBytes = 5 * 1024

/** The message of a rule that has no expression for it, or one that came to nothing. */
function plainMessage({ rule }: CompiledRule): string {
  return rule.message ? rule.message.trim() : `failed rule: ${rule.rule.trim()}`
}

/**
 * The message of a rule that does not hold. A messageExpression that fails, or makes no proper line, is passed over.
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
