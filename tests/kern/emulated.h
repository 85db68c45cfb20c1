/* What a program in an emulator has to speak with. */
#ifndef TESTS_KERN_EMULATED_H
#define TESTS_KERN_EMULATED_H

int main(void); /* the exit status */

/* Writes a text. */
void emulated_say(const char *text);

#endif
