import { useState } from 'preact/hooks'
import type { RevisionFact } from '../facts.ts'
import { changedParts, diffLines } from '../parts/diff.ts'
import { Ago, Section } from '../parts/words.tsx'
import { useAsked, useNow } from '../use.ts'

const marks = { same: ' ', gone: '−', new: '+' } as const

/** The revisions of a workload, and the changes in one of them. */
export function Revisions({
  of,
  generation,
  undo,
}: {
  of: Record<string, string>
  generation: number
  undo: ((revision: string) => void) | undefined
}) {
  const [withValues, setWithValues] = useState(false)
  const asked = useAsked<{ revisions: RevisionFact[] }>(
    'revisions',
    withValues ? { ...of, values: '1' } : of,
    60_000,
    generation,
  )
  const [chosen, choose] = useState<string | undefined>(undefined)
  const now = useNow()
  const revisions = asked.value?.revisions ?? []
  if (revisions.length === 0)
    return asked.error ? (
      <Section title="Revisions">
        <p class="dim">{asked.error}</p>
      </Section>
    ) : null
  const at = Math.max(
    0,
    revisions.findIndex(({ number }) => number === chosen),
  )
  const [after, before] = [revisions[at]!, revisions[at + 1]]
  return (
    <Section
      title="Revisions"
      aside={
        <label class="check">
          <input type="checkbox" checked={withValues} onChange={(e) => setWithValues(e.currentTarget.checked)} /> Show
          values of variables
        </label>
      }
    >
      <div class="revisions">
        <ol>
          {revisions.map(({ number, createdAt, images, changeCause }, i) => (
            <li key={number}>
              <button aria-pressed={i === at} onClick={() => choose(number)}>
                <b>{number}</b> {images.join(', ')}{' '}
                <span class="dim">
                  <Ago at={createdAt} now={now} />
                  {i === 0 ? ', newest' : ''} {changeCause}
                </span>
              </button>
              {undo && i > 0 && (
                <button class="small" onClick={() => undo(number)}>
                  Undo to {number}
                </button>
              )}
            </li>
          ))}
        </ol>
        <div>
          <p class="dim">
            {before
              ? `Revision ${before.number} → ${after.number}`
              : `Revision ${after.number}, the first that is kept`}
          </p>
          <Diff before={before?.template ?? after.template} after={after.template} isWhole={!before} />
        </div>
      </div>
    </Section>
  )
}

function Diff({ before, after, isWhole }: { before: string; after: string; isWhole: boolean }) {
  const lines = diffLines(before, after)
  const shown = isWhole ? lines : changedParts(lines)
  return (
    <pre class="diff" tabIndex={0} aria-label="Template">
      {shown.map((line, i) =>
        line ? (
          <span key={i} class={line.kind}>
            {marks[line.kind]} {line.text}
            {'\n'}
          </span>
        ) : (
          <span key={i} class="dim">
            {'  ⋯\n'}
          </span>
        ),
      )}
    </pre>
  )
}
