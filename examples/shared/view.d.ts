/** What all pages say, whatever they are made with. It knows no framework. */
import type { InterruptAnswer } from '@millrace/client';
import type { Interrupt, ToolCallPart } from '@millrace/protocol';
export declare const suggestions: readonly ['Compare the weather', 'Book a room', 'Tell me a long story', 'Fail half way'];
export declare const toolLabels: Readonly<Record<ToolCallPart['state'], string>>;
/** What a tool gave, as text; undefined until there is something. */
export declare function resultText({ result, output }: ToolCallPart): string | undefined;
export interface Choice {
    readonly label: string;
    readonly answer: InterruptAnswer;
}
/** A button for each answer that a question offers: the choices of its first field that has some, or yes; and no. */
export declare function choicesOf({ responseSchema }: Interrupt): Choice[];
