import type { Interrupt } from '@millrace/protocol'
import type { ReactNode } from 'react'
import { useId, useMemo, useState } from 'react'
import { Icon } from '../icons.tsx'
import type { Field, Values } from './answer-schema.ts'
import { answerText, fieldsOf, initialValues, payloadOf } from './answer-schema.ts'

export type Answer =
  | { readonly status: 'resolved'; readonly payload: Record<string, unknown>; readonly text: string }
  | { readonly status: 'cancelled'; readonly text: string }

/** The agent's question as a form. Submitting resolves it; declining cancels it. */
export function InterruptCard({ interrupt, onAnswer }: { interrupt: Interrupt; onAnswer: (answer: Answer) => void }): ReactNode {
  const fields = useMemo(() => fieldsOf(interrupt.responseSchema), [interrupt.responseSchema])
  const [values, setValues] = useState<Values>(() => initialValues(fields))
  const title = useId()
  const missing = fields.some(({ name, kind, required }) => required && kind !== 'yes-no' && !values[name])
  return (
    <form
      className="interrupt"
      aria-labelledby={title}
      onSubmit={(event) => {
        event.preventDefault()
        if (missing) return
        onAnswer({ status: 'resolved', payload: payloadOf(fields, values), text: answerText(fields, values) })
      }}
    >
      <h3 id={title}>
        <Icon name="question" />
        {interrupt.message ?? 'The agent needs your answer to go on.'}
      </h3>
      {fields.map((field) => (
        <FieldInput
          key={field.name}
          field={field}
          value={values[field.name]}
          onChange={(value) => setValues((before) => ({ ...before, [field.name]: value }))}
        />
      ))}
      <div className="interrupt-actions">
        <button type="submit" className="strong" disabled={missing}>
          Confirm
        </button>
        <button type="button" className="plain" onClick={() => onAnswer({ status: 'cancelled', text: 'Not now' })}>
          Not now
        </button>
      </div>
    </form>
  )
}

interface FieldInputProps {
  readonly field: Field
  readonly value: string | boolean | undefined
  readonly onChange: (value: string | boolean) => void
}

function FieldInput({ field, value, onChange }: FieldInputProps): ReactNode {
  const id = useId()
  switch (field.kind) {
    case 'choice':
      return (
        <fieldset className="choices">
          <legend>{field.label}</legend>
          {field.choices.map((choice) => (
            <label key={choice.value} className="choice">
              <input
                type="radio"
                name={id}
                value={choice.value}
                checked={value === choice.value}
                onChange={() => onChange(choice.value)}
              />
              <span>
                <span className="choice-label">{choice.label}</span>
                {choice.hint && <span className="choice-hint">{choice.hint}</span>}
              </span>
            </label>
          ))}
        </fieldset>
      )
    case 'yes-no':
      return (
        <label className="yes-no">
          <input type="checkbox" checked={value === true} onChange={(event) => onChange(event.target.checked)} />
          {field.label}
        </label>
      )
    default:
      return (
        <div className="field">
          <label htmlFor={id}>
            {field.label} {!field.required && <span className="optional">optional</span>}
          </label>
          <input
            id={id}
            type={field.kind}
            value={typeof value === 'string' ? value : ''}
            {...(field.kind === 'number' ? { min: field.min, max: field.max } : { maxLength: field.maxLength })}
            onChange={(event) => onChange(event.target.value)}
          />
        </div>
      )
  }
}
